import type { Logger } from "../../platform/base/log.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { followGaplessly, type GaplessChannel } from "../../platform/redis/follow-gaplessly.ts";
import { parseEndedLease, parseLease } from "./lease-store.ts";
import { sessionsChannel } from "./pool-keys.ts";
import type { AnyLease } from "./records.ts";

/**
 * What became of a session, as scripts tell it (scripts/includes/tell-session.lua). `dropped`: its lease was never
 * bound. `text`: of the lease, for `leaseOf`.
 */
export type SessionChange = {
  poolUid: string;
  what: "began" | "changed" | "ended" | "dropped";
  session: string;
  text: string;
};

/** Redis has lost leases of this pool, or may have: some may be over without a word. */
type PoolLost = { poolUid: string; what: "lost" };

const form = /^(\S+) (?:(began|changed|ended|dropped) (\S+) (\{.*)|lost)$/s;

const changeOf = (message: string): SessionChange | PoolLost | undefined => {
  const [, poolUid, what, session, text] = form.exec(message) ?? [];
  if (poolUid === undefined) return undefined;
  if (what === undefined || session === undefined || text === undefined) return { poolUid, what: "lost" };
  return { poolUid, what: what as SessionChange["what"], session, text };
};

/** The lease of a change. Throws when it is none. */
export const leaseOf = ({ what, session, text }: SessionChange): AnyLease =>
  what === "ended" ? parseEndedLease(session, text) : parseLease(text);

type Following = {
  /** For subscriptions, and nothing else; it is closed with `stop`. */
  subscriber: RedisConnection;
  redis: RedisConnection;
  onChange(change: SessionChange): void;
  /** Changes of sessions of this pool may be missing; undefined: of all pools. */
  onMissed(poolUid?: string): void;
  log: Logger;
};

/** Follows what becomes of the sessions of all pools. */
export const followSessionChanges = ({ onChange, onMissed, log, ...connections }: Following): GaplessChannel =>
  followGaplessly({
    ...connections,
    channel: sessionsChannel,
    onMissed: () => onMissed(),
    onMessage(message) {
      const change = changeOf(message);
      if (!change) log.error("a change of a session could not be read");
      else if (change.what === "lost") onMissed(change.poolUid);
      else onChange(change);
    },
  });
