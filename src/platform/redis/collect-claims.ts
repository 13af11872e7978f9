/**
 * Which API replica collects what from which agent: the events of a session, or a recording. A claim holds as long as
 * its replica is heard of; then any other takes it over. Two replicas may collect the same for a moment: then each
 * event is kept once (telemetry-store.ts), and each part of a recording is written twice.
 */
import type { RedisConnection } from "./connection.ts";
import { type CollectedKind, claimsKey, collectorsKey } from "./keys.ts";
import { orUnavailable } from "./or-unavailable.ts";
import { listReply, loadScript, runScript, textReply, textsReply } from "./script.ts";

/** What is collected. `session`: its id, or a name that has it. `poolUid`: of the owner of its lease. */
export type Collected = { session: string; poolUid: string };

/** The claims of one replica. Every method throws `unavailable` when Redis does not answer. */
export type CollectClaims = {
  /** This replica collects the session, whoever did before. */
  claim(collected: Collected): Promise<void>;
  /** This replica collects the session if no replica does; whether it does from now on. */
  claimFree(collected: Collected): Promise<boolean>;
  /** Whether any replica collects the session, or did. */
  isClaimed(session: string): Promise<boolean>;
  /** Any other replica may collect the session. */
  offer(collected: Collected): Promise<void>;
  /**
   * Tells that this replica lives. Returns sessions whose replica is gone, which it collects from now on: `most` at
   * most.
   */
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

const claimScript = loadScript("take-claims", import.meta.url);
const keepScript = loadScript("keep-claims", import.meta.url);

/** `replica`: new for every process. */
export const createCollectClaims = (redis: RedisConnection, replica: string, kind: CollectedKind): CollectClaims => {
  const claims = claimsKey(kind);
  const collectors = collectorsKey(kind);
  let cursor = "0";
  let toldMs = -Infinity;
  /** Tells that this replica lives, and takes sessions over. */
  const tell = async (most: number): Promise<string[]> => {
    const keys = [claims, collectors];
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
      await orUnavailable(redis.hset(claims, session, `${poolUid}/${replica}`));
      await tellOf();
    },
    async claimFree({ session, poolUid }) {
      const isFree = (await orUnavailable(redis.hsetnx(claims, session, `${poolUid}/${replica}`))) === 1;
      if (isFree) await tellOf();
      return isFree;
    },
    async isClaimed(session) {
      return (await orUnavailable(redis.hexists(claims, session))) === 1;
    },
    async offer({ session, poolUid }) {
      await orUnavailable(redis.hset(claims, session, `${poolUid}/`));
    },
    async takeOver(most) {
      const texts = await tell(most);
      return texts.flatMap((session, index) => (index % 2 === 0 ? [{ session, poolUid: texts[index + 1] ?? "" }] : []));
    },
    async confirm(collected) {
      if (collected.length === 0) return [];
      const argv = collected.flatMap(({ session, poolUid }) => [session, poolUid]);
      return textsReply(await orUnavailable(runScript(redis, keepScript, [claims], [replica, ...argv])));
    },
    async end(session) {
      await orUnavailable(redis.hdel(claims, session));
    },
    async leave() {
      await orUnavailable(redis.zrem(collectors, replica));
    },
  };
};
