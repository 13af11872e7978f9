/** What pools were asked to be, over time. */
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";

/** A setting that counts from `fromMs` on; `untilMs`: when the next one was confirmed. */
export type PoolSetting = { size: number; fillRatePerMinute: number; fromMs: number; untilMs: number };

/**
 * The settings of each pool, by uid. One counts from the moment in which it was asked for until a later one was
 * confirmed, so that two may count at a time; after an error both stay possible.
 */
export const poolSettings = (events: HistoryEvent[]): Map<string, PoolSetting[]> => {
  const changes = ofKind(events, "pool");
  const returns = new Map(changes.filter(({ phase }) => phase === "return").map((event) => [event.id, event]));
  const settings = new Map<string, PoolSetting[]>();
  for (const call of changes.filter(({ phase }) => phase === "call")) {
    const ended = returns.get(call.id);
    const pool = call.pool ?? ended?.pool;
    if (pool === undefined || ended?.outcome === "refused") continue;
    add(settings, pool, call, ended);
  }
  return settings;
};

const add = (
  settings: Map<string, PoolSetting[]>,
  pool: string,
  call: EventOf<"pool">,
  ended: EventOf<"pool"> | undefined,
): void => {
  const known = settings.get(pool) ?? [];
  const last = known.at(-1);
  const size = call.size ?? last?.size;
  const fillRatePerMinute = call.fillRatePerMinute ?? last?.fillRatePerMinute;
  if (size === undefined || fillRatePerMinute === undefined) return;
  if (size === last?.size && fillRatePerMinute === last?.fillRatePerMinute) return;
  if (ended?.outcome === "ok") for (const one of known) one.untilMs = Math.min(one.untilMs, ended.at);
  settings.set(pool, [...known, { size, fillRatePerMinute, fromMs: call.at, untilMs: Number.POSITIVE_INFINITY }]);
};

/**
 * An operator may go by a setting for this long after it was replaced, ms: its watch may be late or cut for a while.
 */
const staleMs = 15_000;

/** The settings by which an operator may have acted at `atMs`. */
export const settingsAt = (settings: PoolSetting[], atMs: number): PoolSetting[] =>
  settings.filter(({ fromMs, untilMs }) => fromMs <= atMs && atMs <= untilMs + staleMs);
