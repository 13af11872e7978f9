export type Tone = "good" | "warn" | "bad" | "quiet";

const signs: Record<Tone, string> = { good: "●", warn: "▲", bad: "■", quiet: "○" };

/** A state: a word with a sign whose form, not only its colour, says how good it is. */
export const State = ({ tone, children }: { tone: Tone; children: string }) => (
  <span class={`state ${tone}`}>
    <span aria-hidden="true">{signs[tone]}</span> {children}
  </span>
);
