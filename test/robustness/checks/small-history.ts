/** Histories made by hand, for the tests of the checks: one pool `p`, one client unless named, times in ms. */
import type { EventOf, HistoryEvent } from "../history/history.ts";
import type { LeaseChange } from "../history/lease-event.ts";

type Call = EventOf<"call">;
type Return = EventOf<"return">;

let lastId = 0;

/** A client's operation from `at` to `until`. */
export const operation = (
  [at, until]: [at: number, until: number],
  call: Pick<Call, "op"> & Partial<Call>,
  ended: Pick<Return, "outcome"> & Partial<Return>,
): HistoryEvent[] => {
  lastId += 1;
  const { op, client = "c", pool = "p" } = call;
  const identity = { id: `${lastId}`, client, pool, op };
  const session = call.session ?? ended.session;
  return [
    { ...call, kind: "call", at, ...identity },
    { ...ended, kind: "return", at: until, ...identity, ...(session !== undefined && { session }) },
  ];
};

/** A call that is answered with a session. */
export const held = (times: [number, number], session: string, call: Partial<Call> = {}): HistoryEvent[] =>
  operation(times, { op: "acquire", ...call }, { outcome: "held", status: 200, session });

/** A release that succeeds. */
export const released = (times: [number, number], session: string, call: Partial<Call> = {}): HistoryEvent[] =>
  operation(times, { op: "release", reuse: true, ...call, session }, { outcome: "ok", status: 204 });

/** A line of the agent's log of `browser`. */
export const agent = (
  at: number,
  browser: string,
  what: EventOf<"agent">["what"],
  more: Partial<EventOf<"agent">> = {},
): HistoryEvent => ({ kind: "agent", at, what, browser, pod: `pod-${browser}`, epoch: 1, ...more });

/** What scripts recorded, each `[at, script, ...changes]`: the first of a stream, or what follows upon `after`. */
export const scripts = (
  entries: [at: number, script: string, ...changes: LeaseChange[]][],
  { after = [], pool = "p" }: { after?: EventOf<"lease">[]; pool?: string } = {},
): EventOf<"lease">[] => {
  let last = after.at(-1)?.entry ?? "";
  return entries.map(([at, script, ...changes]) => {
    lastId += 1;
    const event = { kind: "lease", at, pool, entry: `${at}-${lastId}`, after: last, script, changes } as const;
    last = event.entry;
    return event;
  });
};

export const change = {
  state: (browser: string, from: string, to: string, more: { session?: string; reason?: string } = {}): LeaseChange =>
    ({ what: "state", browser, from, to, seq: 1, ...more }) as LeaseChange,
  queued: (session: string, ticket: number, request?: string): LeaseChange => ({
    what: "queued",
    session,
    ticket,
    ...(request !== undefined && { request }),
  }),
  left: (session: string): LeaseChange => ({ what: "left", session }),
  granted: (session: string, browser: string, ticket: number, channel?: string): LeaseChange => ({
    what: "granted",
    session,
    browser,
    ticket,
    epoch: 1,
    seq: 1,
    ...(channel !== undefined && { channel }),
  }),
  ended: (session: string, browser: string, reason = "released"): LeaseChange => ({
    what: "ended",
    session,
    browser,
    epoch: 1,
    seq: 1,
    reason,
  }),
};

/** The pod of `browser`; `createdAt`: ms since the epoch, `at` when left out. */
export const pod = (
  at: number,
  browser: string,
  seen: EventOf<"pod">["change"],
  { createdMs = at, ...more }: Partial<EventOf<"pod">> & { createdMs?: number } = {},
): HistoryEvent => ({
  kind: "pod",
  at,
  change: seen,
  browser,
  pod: `pod-${browser}`,
  pool: "p",
  phase: "Running",
  ready: true,
  createdAt: new Date(Math.floor(createdMs / 1000) * 1000).toISOString(),
  ...more,
});

/** The run asks for a setting of the pool and is told that it is taken. */
export const poolIs = (
  at: number,
  what: EventOf<"pool">["what"],
  request: { size?: number; fillRatePerMinute?: number },
): HistoryEvent[] => {
  lastId += 1;
  const event = { kind: "pool", id: `${lastId}`, what, pool: "p", name: "pool", ...request } as const;
  return [
    { ...event, at, phase: "call" },
    { ...event, at: at + 1, phase: "return", outcome: "ok" },
  ];
};

export const fault = (
  [at, until]: [number, number],
  name: string,
  details?: Record<string, unknown>,
): HistoryEvent[] => {
  lastId += 1;
  const event = { kind: "fault", id: `${lastId}`, fault: name } as const;
  return [
    { ...event, at, phase: "begin", ...(details && { details }) },
    { ...event, at: until, phase: "end" },
  ];
};

export const mark = (at: number, name: EventOf<"mark">["mark"]): HistoryEvent => ({ kind: "mark", at, mark: name });

type End = EventOf<"end">;

/** A pool of one idle browser at the end, or what `pool` says. */
export const theEnd = (
  at: number,
  pool: Partial<End["pools"][number]> = {},
  quiet: Partial<End["quiet"]> = {},
): End => ({
  kind: "end",
  at,
  pools: [
    {
      pool: "p",
      name: "pool",
      size: 1,
      browsers: [{ id: "b", pod: "pod-b", address: "a:1", config: "h", seq: 1, state: "idle", since: 0 }],
      leases: [],
      ended: [],
      waiters: [],
      pods: [{ browser: "b", pod: "pod-b", phase: "Running", ready: true, marked: false }],
      ...pool,
    },
  ],
  quiet: { forMs: 5000, etcdWrites: [], redisWrites: [], ...quiet },
});

/** In the order of time, as a history is read. */
export const inOrder = (...parts: (HistoryEvent | HistoryEvent[])[]): HistoryEvent[] =>
  parts.flat().toSorted((a, b) => a.at - b.at);
