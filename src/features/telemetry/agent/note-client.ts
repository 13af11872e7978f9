/** What a client of a session does, as far as its category is captured: it comes, sends commands, and goes. */

import type { Socket } from "node:net";
import type { ClientKind } from "../../../core/agent/upgrades.ts";
import { maxFrameHead, readFrameHead } from "../../../platform/cdp/frame-head.ts";
import type { Recorder } from "./recorder.ts";
import type { Capture } from "./settings.ts";

// Reads the methods of the CDP commands that a client sends, beside the bytes that are passed on: WebSocket frames of
// RFC 6455, masked as a client's are. Of each message only the first bytes are unmasked, until the method is found; the
// rest is counted. What is no CDP has no methods. It never holds bytes up and keeps none of them.

/**
 * How much of a message is searched, bytes. Clients write the method before the parameters, or after a short session.
 */
const maxSearched = 4096;

const textOpcode = 1;
const continuation = 0;

const token = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** The method at the top level of a message that may be cut off; undefined when it is not there. */
export const methodIn = (text: string): string | undefined => {
  let depth = 0;
  /** The last two tokens. */
  let [before, last] = ["", ""];
  for (const [found] of text.matchAll(token)) {
    if (depth === 1 && last === ":" && before === '"method"' && found.startsWith('"')) return found.slice(1, -1);
    if (found === "{" || found === "[") depth += 1;
    if (found === "}" || found === "]") depth -= 1;
    [before, last] = [last, found];
  }
  return undefined;
};

/**
 * Returns a function that takes the bytes of one client as they come. `onMessage`: called once for each of its
 * messages.
 */
export const readClientFrames = (onMessage: (method: string | undefined) => void): ((chunk: Buffer) => void) => {
  let head: Buffer = Buffer.alloc(0);
  /** Of the frame that is being read. */
  let left = 0;
  let offset = 0;
  let mask: Buffer | undefined;
  let isLast = false;
  let isData = false;
  const searched = Buffer.alloc(maxSearched);
  let searchedLength = 0;

  const endFrame = (): void => {
    if (!isData || !isLast) return;
    onMessage(methodIn(searched.toString("utf8", 0, searchedLength)));
    searchedLength = 0;
  };

  /** Returns how many bytes of the chunk belonged to the head. */
  const readHead = (chunk: Buffer, from: number): number => {
    const before = head.length;
    head = Buffer.concat([head, chunk.subarray(from, from + maxFrameHead - before)]);
    const frame = readFrameHead(head);
    if (!frame) return chunk.length - from;
    const [first = 0] = head;
    const opcode = first & 0x0f;
    isLast = (first & 0x80) !== 0;
    isData = opcode === textOpcode || opcode === continuation;
    left = frame.payload;
    mask = frame.mask;
    offset = 0;
    head = Buffer.alloc(0);
    if (left === 0) endFrame();
    return frame.length - before;
  };

  const readPayload = (chunk: Buffer, from: number): number => {
    const length = Math.min(left, chunk.length - from);
    const wanted = isData ? Math.min(length, maxSearched - searchedLength) : 0;
    for (let index = 0; index < wanted; index += 1) {
      const byte = chunk[from + index] ?? 0;
      searched[searchedLength + index] = byte ^ (mask?.[(offset + index) & 3] ?? 0);
    }
    searchedLength += wanted;
    offset += length;
    left -= length;
    if (left === 0) endFrame();
    return length;
  };

  return (chunk) => {
    for (let at = 0; at < chunk.length; ) at += left > 0 ? readPayload(chunk, at) : readHead(chunk, at);
  };
};

/** Why a client has gone: it has closed, or its lease is over. */
type GoneReason = "client_close" | "context_cancelled";

export type NotedSession = {
  id: string;
  recorder: Recorder;
  /** What is captured at the moment. */
  capture: Capture;
  /** Sockets of clients that answer the dialogs of pages. */
  answerers: Set<Socket>;
  /** Tells that a client has gone: one function for each that is open. */
  clients: Set<(reason: GoneReason) => void>;
};

const source = { kind: "local_process" as const };

type Gone = { reason: GoneReason; messages?: number | undefined };

const noteConnection = (kind: ClientKind, { id, recorder }: NotedSession): ((gone: Gone) => void) => {
  const sinceMs = performance.now();
  if (kind === "cdp") recorder.emit("cdp_connect", {}, source);
  if (kind === "webdriver") recorder.emit("webdriver_connect", {}, source);
  if (kind === "live_view") recorder.emit("live_view_connect", { session_id: id }, source);
  return ({ reason, messages }) => {
    const duration_ms = Math.round(performance.now() - sinceMs);
    const counted = messages === undefined ? {} : { message_count: messages };
    if (kind === "cdp") recorder.emit("cdp_disconnect", { duration_ms, reason, ...counted }, source);
    if (kind === "webdriver") recorder.emit("webdriver_disconnect", { duration_ms }, source);
    if (kind === "live_view") recorder.emit("live_view_disconnect", { session_id: id, duration_ms }, source);
  };
};

/**
 * Categories for which commands are read: their own, and those for which the agent asks Chromium to be told of pages
 * (capture.ts).
 */
const needsCommands = ({ categories }: Capture): boolean =>
  categories.has("control") || categories.has("page") || categories.has("interaction");

/**
 * Counts a client until its socket closes. `head`: what it has sent already. Call it before its bytes are passed on.
 */
export const noteClient = (kind: ClientKind, session: NotedSession, client: { socket: Socket; head: Buffer }): void => {
  const { recorder, answerers, clients } = session;
  const { socket, head } = client;
  const isNoted = session.capture.categories.has("connection");
  const told = isNoted ? noteConnection(kind, session) : undefined;
  const reads = kind === "cdp" && needsCommands(session.capture);
  let messages = 0;
  const gone = (reason: GoneReason): void => {
    if (!clients.delete(gone)) return;
    answerers.delete(socket);
    told?.({ reason, messages: reads ? messages : undefined });
  };
  clients.add(gone);
  // People see dialogs, and WebDriver has commands for them.
  if (kind !== "cdp") answerers.add(socket);
  socket.once("close", () => gone("client_close"));
  if (!reads) return;
  const take = readClientFrames((method) => {
    messages += 1;
    if (method === "Page.enable") answerers.add(socket);
    const { categories, excludedMethods } = session.capture;
    if (method !== undefined && categories.has("control") && !excludedMethods.has(method))
      recorder.emit("cdp_command", { method }, source);
  });
  take(head);
  // Else the bytes that come before they are passed on would be lost.
  socket.pause();
  socket.on("data", take);
};
