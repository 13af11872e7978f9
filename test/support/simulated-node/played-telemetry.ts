import { setTimeout as sleep } from "node:timers/promises";
import { parseBody, type Routes } from "../../../src/core/agent/agent-http.ts";
import { refusals } from "../../../src/core/agent/agent-reply.ts";
import type { LeaseKeeper } from "../../../src/core/agent/lease-keeper.ts";
import { CaptureChange } from "../../../src/core/protocol/telemetry-api.ts";
import type { TelemetryRecord } from "../../../src/features/telemetry/telemetry-event.ts";

/** What happens in a played browser: so many console messages, each with this many characters. */
export type Said = { count: number; chars?: number };

/** Events of a played browser, which the agent serves as the protocol says (src/core/protocol/telemetry-api.ts). */
export type PlayedTelemetry = {
  routes: Routes;
  /** Lets it happen in the browser of the present holder. */
  say(said: Said): void;
  /** The settings of the last `PUT /telemetry`. */
  settings(): unknown;
};

/** Events that the agent keeps for a reader that is away. */
const kept = 5000;

type Log = { session: string; last: number; records: TelemetryRecord[] };

const message = (seq: number, chars: number): TelemetryRecord => ({
  seq,
  event: {
    type: "console_log",
    category: "console",
    source: { kind: "cdp" },
    ts: Date.now() * 1000,
    data: { text: `message ${seq} ${"x".repeat(chars)}` },
  },
});

/** `leases`: of the moment, since an agent may forget. */
export const playTelemetry = (leases: () => Pick<LeaseKeeper, "state" | "isHeldBy">): PlayedTelemetry => {
  let log: Log | undefined;
  let settings: unknown;
  const holder = (): string | undefined => leases().state().lease?.session_id;
  /** The log of this session, if it holds the browser or held it last. */
  const logOf = (session: string): Log | undefined => {
    if (log?.session !== session && holder() === session) log = { session, last: 0, records: [] };
    return log?.session === session ? log : undefined;
  };
  const stream = async function* (of: Log, after: number, signal: AbortSignal): AsyncGenerator<TelemetryRecord> {
    for (let seen = after; !signal.aborted; ) {
      const isOver = holder() !== of.session;
      for (const record of of.records.filter(({ seq }) => seq > seen)) {
        yield record;
        seen = record.seq;
      }
      if (isOver) return;
      await sleep(10, undefined, { signal }).catch(() => undefined);
    }
  };
  return {
    settings: () => settings,
    say({ count, chars = 0 }) {
      const of = logOf(holder() ?? "");
      if (!of) return;
      for (let index = 0; index < count; index++) of.records.push(message(++of.last, chars));
      of.records = of.records.slice(-kept);
    },
    routes: {
      "/telemetry": {
        async GET({ url = "" }) {
          const { searchParams } = URL.parse(url, "http://agent") ?? {};
          const of = logOf(searchParams?.get("session") ?? "");
          const after = Number(searchParams?.get("after"));
          return of
            ? { status: 200, lines: (signal: AbortSignal) => stream(of, after, signal) }
            : refusals.session_not_found;
        },
        async PUT(request) {
          const read = await parseBody(request, CaptureChange, { maxBytes: 64 * 1024 });
          if ("refused" in read) return read.refused;
          if (!leases().isHeldBy(read.body)) return refusals.not_holder;
          settings = read.body.telemetry;
          return { status: 200, body: leases().state() };
        },
      },
    },
  };
};
