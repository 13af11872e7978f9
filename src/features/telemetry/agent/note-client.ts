/** What a client of a session does, as far as its category is captured: it comes, sends commands, and goes. */
import type { Socket } from "node:net";
import type { ClientKind } from "../../../core/agent/upgrades.ts";
import { readClientFrames } from "./client-frames.ts";
import type { Recorder } from "./recorder.ts";
import type { Capture } from "./settings.ts";

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

/** Categories for which commands are read: their own, and those for which the agent asks Chromium to be told of pages (capture.ts). */
const needsCommands = ({ categories }: Capture): boolean =>
  categories.has("control") || categories.has("page") || categories.has("interaction");

/** Counts a client until its socket closes. `head`: what it has sent already. Call it before its bytes are passed on. */
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
