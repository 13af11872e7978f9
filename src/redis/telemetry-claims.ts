/**
 * Which API replica collects the events of which session. A claim holds as long as its replica is heard of; then any other takes it over.
 * Two replicas may collect one session for a moment: then each event is kept once (telemetry-store.ts).
 */
import type { RedisConnection } from "./connection.ts";
import { telemetryClaimsKey, telemetryCollectorsKey } from "./keys.ts";
import { orUnavailable } from "./or-unavailable.ts";
import { listReply, textReply, textsReply } from "./reply.ts";
import { loadScript, runScript } from "./script.ts";

/** A session whose events are collected. `poolUid`: of the owner of its lease. */
export type Collected = { session: string; poolUid: string };

/** The claims of one replica. Every method throws `unavailable` when Redis does not answer. */
export type TelemetryClaims = {
  /** This replica collects the session, whoever did before. */
  claim(collected: Collected): Promise<void>;
  /** This replica collects the session if no replica does; whether it does from now on. */
  claimFree(collected: Collected): Promise<boolean>;
  /** Whether any replica collects the session, or did. */
  isClaimed(session: string): Promise<boolean>;
  /** Any other replica may collect the session. */
  offer(collected: Collected): Promise<void>;
  /** Tells that this replica lives. Returns sessions whose replica is gone, which it collects from now on: `most` at most. */
  takeOver(most: number): Promise<Collected[]>;
  /** Returns the sessions of these, which this replica collects, that another one collects by now. */
  confirm(collected: readonly Collected[]): Promise<string[]>;
  /** Nobody needs to collect the session any more. */
  end(session: string): Promise<void>;
  /** This replica is gone: the others may take its sessions over at once. */
  leave(): Promise<void>;
};

/** Silence after which a replica counts as gone, ms: three times the pause between two `takeOver`. */
const silenceMs = 9000;

/** How long it needs not be told again, ms. */
const toldForMs = 1000;

const claimScript = loadScript("claim-telemetry", import.meta.url);
const keepScript = loadScript("keep-telemetry-claims", import.meta.url);

/** `replica`: new for every process. */
export const createTelemetryClaims = (redis: RedisConnection, replica: string): TelemetryClaims => {
  let cursor = "0";
  let toldMs = -Infinity;
  /** Tells that this replica lives, and takes sessions over. */
  const tell = async (most: number): Promise<string[]> => {
    const keys = [telemetryClaimsKey, telemetryCollectorsKey];
    const [next, ...flat] = listReply(
      await orUnavailable(runScript(redis, claimScript, keys, [replica, silenceMs, most, cursor])),
    );
    cursor = textReply(next);
    return textsReply(flat);
  };
  /** A first claim of a replica that nobody has heard of would be free to others. */
  const tellOf = async (): Promise<void> => {
    if (performance.now() - toldMs < toldForMs) return;
    await tell(0);
    toldMs = performance.now();
  };
  return {
    async claim({ session, poolUid }) {
      await orUnavailable(redis.hset(telemetryClaimsKey, session, `${poolUid}/${replica}`));
      await tellOf();
    },
    async claimFree({ session, poolUid }) {
      const isFree = (await orUnavailable(redis.hsetnx(telemetryClaimsKey, session, `${poolUid}/${replica}`))) === 1;
      if (isFree) await tellOf();
      return isFree;
    },
    async isClaimed(session) {
      return (await orUnavailable(redis.hexists(telemetryClaimsKey, session))) === 1;
    },
    async offer({ session, poolUid }) {
      await orUnavailable(redis.hset(telemetryClaimsKey, session, `${poolUid}/`));
    },
    async takeOver(most) {
      const texts = await tell(most);
      return texts.flatMap((session, index) => (index % 2 === 0 ? [{ session, poolUid: texts[index + 1] ?? "" }] : []));
    },
    async confirm(collected) {
      if (collected.length === 0) return [];
      const argv = collected.flatMap(({ session, poolUid }) => [session, poolUid]);
      return textsReply(await orUnavailable(runScript(redis, keepScript, [telemetryClaimsKey], [replica, ...argv])));
    },
    async end(session) {
      await orUnavailable(redis.hdel(telemetryClaimsKey, session));
    },
    async leave() {
      await orUnavailable(redis.zrem(telemetryCollectorsKey, replica));
    },
  };
};
