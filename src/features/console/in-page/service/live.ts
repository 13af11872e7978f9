/**
 * What the service has, kept up to date by one event stream for the whole window.
 *
 *   off ──start──► connecting ──the first events are in──► live
 *                    ▲   └──refused: this key may not read pools──► refused
 *                    └──── lost (with the reason) ◄──the stream ends or says nothing for 40 s
 *
 * A lost stream is opened again, at once and then after ever longer pauses, from the event that was seen last: nothing
 * is missed. When the service does not know that event any more it says `reset`, and all is read anew; what is shown
 * stays until then.
 */
import { batch, type Signal, signal } from "@preact/signals";
import type { BrowserPoolAnswer } from "../../../../core/model/pools/browser-pool-wire.ts";
import type { Session } from "../../../../core/model/sessions/session-wire.ts";
import { ApiError, open, project, signedOut } from "./api.ts";
import { readEvents } from "./read-events.ts";

/** The kinds of events; but for pools and sessions, they only say that something has changed. */
export type Kind =
  | "pool"
  | "session"
  | "profile"
  | "proxy"
  | "extension"
  | "vault"
  | "vault_item"
  | "credential"
  | "auth_connection"
  | "telemetry_destination";

type ServiceEvent = {
  event: "current" | "synced" | "created" | "changed" | "deleted" | "reset" | "error";
  kind?: Kind;
  id?: string;
  object?: unknown;
  error?: { code: string; message: string };
};

/** How the stream stands. `since`: ms since 1970. `why`: of a lost or a refused one. */
export type Link = { state: "off" | "connecting" | "live" | "lost" | "refused"; since: number; why: string };

/** How the stream of this window stands. */
export const link = signal<Link>({ state: "off", since: Date.now(), why: "" });

const setLink = (state: Link["state"], why = ""): void => {
  if (link.value.state !== state || link.value.why !== why) link.value = { state, since: Date.now(), why };
};

/** The objects by id. The maps are changed in place: read `pools.version.value` or `sessions.version.value` first. */
type Collection<T> = { byId: Map<string, T>; version: Signal<number> };

/** The pools of the project. */
export const pools: Collection<BrowserPoolAnswer> = { byId: new Map(), version: signal(0) };
/** The active sessions of the project. */
export const sessions: Collection<Session> = { byId: new Map(), version: signal(0) };

/** Sessions that ended while this window saw them, the latest last. */
export const ended: Collection<Session> = { byId: new Map(), version: signal(0) };

const mostEnded = 1000;

const counters = new Map<Kind, Signal<number>>();

/** Grows whenever something of the kind has changed. */
export const changesOf = (kind: Kind): Signal<number> => {
  const known = counters.get(kind) ?? signal(0);
  counters.set(kind, known);
  return known;
};

/** What has changed since views were told last. */
const touched = new Set<Kind>();
let isTelling = false;

/** Views are told of changes at most so often, ms: reading faster helps nobody. */
const tellMs = 250;

const tell = (): void => {
  isTelling = false;
  batch(() => {
    for (const kind of touched) changesOf(kind).value += 1;
    if (touched.has("pool")) pools.version.value += 1;
    if (touched.has("session")) {
      sessions.version.value += 1;
      ended.version.value += 1;
    }
  });
  touched.clear();
};

const touch = (kind: Kind): void => {
  touched.add(kind);
  if (isTelling) return;
  isTelling = true;
  setTimeout(tell, tellMs);
};

const endSession = (id: string, object: unknown): void => {
  const known = sessions.byId.get(id);
  sessions.byId.delete(id);
  const last = (object ?? known) as Session | undefined;
  if (!last) return;
  ended.byId.delete(id);
  ended.byId.set(id, last);
  const [oldest] = ended.byId.keys();
  if (ended.byId.size > mostEnded && oldest !== undefined) ended.byId.delete(oldest);
};

/** Ids that the snapshot of a `reset` has named so far; undefined while none is read. */
let snapshot: Record<"pool" | "session", Set<string>> | undefined;

const forgetUnnamed = (): void => {
  if (!snapshot) return;
  for (const id of pools.byId.keys()) if (!snapshot.pool.has(id)) pools.byId.delete(id);
  for (const id of [...sessions.byId.keys()]) if (!snapshot.session.has(id)) endSession(id, undefined);
  snapshot = undefined;
  touch("pool");
  touch("session");
};

const apply = ({ event, kind, id, object }: ServiceEvent): void => {
  if (kind === undefined || id === undefined) return;
  const isGone = event === "deleted";
  // An event of a kind has the object that lists of this kind have.
  if (kind === "pool" && isGone) pools.byId.delete(id);
  else if (kind === "pool") pools.byId.set(id, object as BrowserPoolAnswer);
  else if (kind === "session" && isGone) endSession(id, object);
  else if (kind === "session") sessions.byId.set(id, object as Session);
  if (event === "current" && (kind === "pool" || kind === "session")) snapshot?.[kind].add(id);
  touch(kind);
};

/** The service says something at least every 15 s; a stream that is silent for longer has died on the way, ms. */
const silentMs = 40_000;

/** Why a stream was read anew: it has to begin with all that there is. */
class Reset extends Error {}

const take = (event: ServiceEvent): void => {
  if (event.event === "reset") throw new Reset();
  if (event.event === "error") throw new ApiError(0, event.error?.code ?? "unknown", event.error?.message ?? "");
  if (event.event === "synced") {
    forgetUnnamed();
    setLink("live");
  } else apply(event);
};

/** Reads a stream to its end. `from`: the id of the last event that was seen. Throws why it ended. */
const readStream = async (from: string | undefined, onId: (id: string) => void, signal: AbortSignal): Promise<void> => {
  const silent = new AbortController();
  let watch = setTimeout(() => silent.abort(), silentMs);
  const response = await open("GET", "/events/stream", {
    query: from === undefined ? { initial_events: "true" } : {},
    headers: from === undefined ? {} : { "Last-Event-ID": from },
    signal: AbortSignal.any([signal, silent.signal]),
  });
  if (from === undefined) snapshot = { pool: new Set(), session: new Set() };
  else setLink("live");
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      clearTimeout(watch);
      watch = setTimeout(() => silent.abort(), silentMs);
      controller.enqueue(bytes);
    },
  });
  try {
    const events = response.body && readEvents(response.body.pipeThrough(heard));
    for await (const { id, data } of events ?? []) {
      take(JSON.parse(data) as ServiceEvent);
      if (id !== undefined) onId(id);
    }
  } finally {
    clearTimeout(watch);
  }
};

const firstPauseMs = 250;
const lastPauseMs = 10_000;

/** Resolves after this time, when the network is back, or when `signal` is aborted. */
const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const done = new AbortController();
  signal.addEventListener("abort", () => resolve(), { signal: done.signal });
  addEventListener("online", () => resolve(), { signal: done.signal });
  await promise;
  clearTimeout(timer);
  done.abort();
};

/** Where the next stream begins: after the event of this id, or with all that there is. */
type Place = { from: string | undefined };

/** Reads one stream. Returns why it ended, or `stop` when there is no use in another one. */
const readOnce = async (place: Place, signal: AbortSignal): Promise<{ why: string } | "again" | "stop"> => {
  const onId = (id: string): void => {
    place.from = id;
  };
  try {
    await readStream(place.from, onId, signal);
    return { why: "The service ended the stream." };
  } catch (error) {
    if (error instanceof Reset) {
      place.from = undefined;
      return "again";
    }
    const known = error instanceof ApiError ? error : undefined;
    if (known?.status === 403) {
      setLink("refused", known.message);
      return "stop";
    }
    return { why: known && known.code !== "aborted" ? known.message : "The stream broke off." };
  }
};

const follow = async (signal: AbortSignal): Promise<void> => {
  const place: Place = { from: undefined };
  let pauseMs = firstPauseMs;
  setLink("connecting");
  while (!signal.aborted) {
    const startedMs = Date.now();
    const ended = await readOnce(place, signal);
    if (ended === "stop" || signal.aborted || signedOut.value !== undefined) return;
    if (ended === "again") continue;
    if (Date.now() - startedMs > lastPauseMs) pauseMs = firstPauseMs;
    setLink("lost", ended.why);
    await pause(pauseMs * (0.75 + Math.random() / 2), signal);
    pauseMs = Math.min(lastPauseMs, pauseMs * 2);
  }
};

const clear = (): void => {
  for (const { byId } of [pools, sessions, ended]) byId.clear();
  snapshot = undefined;
  for (const kind of ["pool", "session"] as const) touch(kind);
};

/** Begins to follow the project that is chosen, from now on whichever it is. Returns what ends it. */
export const startLive = (): (() => void) => {
  let running = new AbortController();
  const unsubscribe = project.subscribe(() => {
    running.abort();
    running = new AbortController();
    clear();
    setLink("off");
    void follow(running.signal);
  });
  return () => {
    unsubscribe();
    running.abort();
    clear();
    setLink("off");
  };
};
