type Part = { tone: "good" | "warn" | "bad" | "quiet" | "accent"; count: number; word: string };

/** A bar of parts, with their numbers in words. `whole`: what a full bar stands for; left out, all parts together. */
export const ShareBar = ({ parts, whole, label }: { parts: readonly Part[]; whole?: number; label?: string }) => {
  const sum = parts.reduce((total, { count }) => total + count, 0);
  const words = parts.map(({ count, word }) => `${count} ${word}`).join(", ");
  const text = label === undefined ? words : `${label}: ${words}`;
  return (
    <span class="share-bar" role="img" aria-label={text} title={text}>
      {parts.map(({ tone, count, word }) => (
        <span key={word} class={tone} style={{ width: `${(count / Math.max(1, whole ?? sum, sum)) * 100}%` }} />
      ))}
    </span>
  );
};
