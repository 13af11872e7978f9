/** What comes of a call's code, as the messages of its executor tell it. */
import type { ExecutorMessage } from "./executor-messages.ts";
import { mostImages, mostOutputChars } from "./executor-orders.ts";

type Channel = Extract<ExecutorMessage, { is: "text" }>["channel"];

type Content =
  | { type: "text"; channel: Channel; text: string }
  | { type: "image"; mime_type: string; data_b64: string };

/** `stack`: the error with its places in the code. */
type Failure = { error: string; stack: string };

export type Outcome = {
  tab: { target_id: string; created: boolean } | undefined;
  content: readonly Content[];
  isTruncated: boolean;
  /** JSON of what was returned, or why there is nothing. */
  end: { json: string | undefined } | Failure;
};

type Gathering = {
  take(message: ExecutorMessage): void;
  /** Everything until now, with this end. */
  outcome(end: Outcome["end"]): Outcome;
};

/** The executor keeps to the same bounds, unless its code writes messages itself. */
export const gatherOutcome = (): Gathering => {
  const content: Content[] = [];
  const chars = { write: 0, stdout: 0, stderr: 0 };
  let [tab, isTruncated, images]: [Outcome["tab"], boolean, number] = [undefined, false, 0];

  const takeText = (channel: Channel, text: string): void => {
    if (chars[channel] + text.length > mostOutputChars) isTruncated = true;
    const kept = text.slice(0, mostOutputChars - chars[channel]);
    chars[channel] += kept.length;
    const last = content.at(-1);
    if (last?.type === "text" && last.channel === channel) last.text += kept;
    else if (kept !== "") content.push({ type: "text", channel, text: kept });
  };
  return {
    take(message) {
      if (message.is === "tab") tab = { target_id: message.target_id, created: message.created };
      if (message.is === "text") takeText(message.channel, message.text);
      if (message.is === "dropped") isTruncated = true;
      if (message.is !== "image") return;
      images += 1;
      if (images > mostImages) isTruncated = true;
      else content.push({ type: "image", mime_type: message.mime_type, data_b64: message.data_b64 });
    },
    outcome: (end) => ({ tab, content, isTruncated, end }),
  };
};

/** What was written to one stream; undefined: nothing. */
export const streamOf = ({ content, isTruncated }: Outcome, channel: "stdout" | "stderr"): string | undefined => {
  const text = content.map((each) => (each.type === "text" && each.channel === channel ? each.text : "")).join("");
  if (text.length < mostOutputChars || !isTruncated) return text === "" ? undefined : text;
  return `${text}\n[more was written; the first ${mostOutputChars} characters are kept]\n`;
};
