/** The way out of an executor: messages to its agent, and what code writes, within the bounds of a call. */
import { writeSync } from "node:fs";
import type { ExecutorMessage } from "../agent/executor-messages.ts";
import { messagesFd, mostOutputChars } from "../agent/executor-orders.ts";

type Channel = Extract<ExecutorMessage, { is: "text" }>["channel"];

// Of this module alone, whatever code does to the globals later.
const { stringify } = JSON;

/** The agent reads at its own pace, and the code waits for it. */
export const send = (message: ExecutorMessage): void => {
  const bytes = Buffer.from(`${stringify(message)}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(messagesFd, bytes, at);
};

let order: number | undefined;
const written = new Map<Channel, number>();
let isTold = false;

/** From now on what is written belongs to this order; undefined: to none, and is dropped. */
export const writeFor = (id: number | undefined): void => {
  order = id;
  written.clear();
  isTold = false;
};

/** Tells once in each order that something was dropped. */
export const tellDropped = (): void => {
  if (order === undefined || isTold) return;
  isTold = true;
  send({ is: "dropped", id: order });
};

/** Sends what code writes, up to the bound of a stream. */
export const write = (channel: Channel, text: string): void => {
  if (order === undefined) return;
  const before = written.get(channel) ?? 0;
  const kept = text.slice(0, mostOutputChars - before);
  written.set(channel, before + kept.length);
  if (kept !== "") send({ is: "text", id: order, channel, text: kept });
  if (kept.length < text.length) tellDropped();
};

/** Sends a message of the present order. */
export const sendFor = (message: Omit<Extract<ExecutorMessage, { is: "image" }>, "id">): void => {
  if (order !== undefined) send({ ...message, id: order });
};

const takeStream = (stream: NodeJS.WriteStream, channel: "stdout" | "stderr"): void => {
  stream.write = ((chunk: string | Uint8Array, encoding?: unknown, callback?: unknown): boolean => {
    write(channel, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
    const done = typeof encoding === "function" ? encoding : callback;
    if (typeof done === "function") process.nextTick(done as () => void);
    return true;
  }) as typeof stream.write;
};

/** Has all that `console` and the standard streams take go to the agent. */
export const takeStreams = (): void => {
  takeStream(process.stdout, "stdout");
  takeStream(process.stderr, "stderr");
};
