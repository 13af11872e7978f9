/**
 * The load of the section `acquire`, in its own process: one caller acquires and releases, and in turns with that makes
 * each call of which they consist, alone. Everything is measured twice: with a change of variant after every call, so
 * that all of them find the machine alike, and in rows, so that the small calls have caches and cores to themselves.
 */
import { createPrivateKey, createSecretKey, randomBytes } from "node:crypto";
import { createAgentClient } from "../../src/core/leases/agent/agent-client.ts";
import { createLeaseStore } from "../../src/core/leases/lease-store.ts";
import type { LeaseRecord } from "../../src/core/leases/records.ts";
import { createAgentKeys } from "../../src/core/protocol/agent-key.ts";
import { createAgentTokens } from "../../src/core/protocol/agent-token.ts";
import { signSessionToken } from "../../src/core/protocol/session-token.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { interleaved } from "../interleaved.ts";
import type { Job } from "../own-process.ts";
import { createLoadClient, type Target } from "./client.ts";
import { emptyPath } from "./empty-path.ts";

export type AcquireLoad = {
  target: Target;
  poolUid: string;
  redisUrl: string;
  /** PEM of the key that signs tokens. */
  signingKey: string;
  /** The master key of the agents' keys, in base64. */
  masterKey: string;
  /** Length of each of the two measurements, s. */
  seconds: number;
  seed: number;
};

/** The measured calls. `evalsha` to `agent` are floors; `take` to `offer` are the steps of a request. */
export type Timed =
  | "acquire"
  | "release"
  | "evalsha"
  | "empty"
  | "agent"
  | "take"
  | "bind"
  | "sign"
  | "releaseScript"
  | "end"
  | "offer";

export type Times = Record<Timed, number[]>;

/** How many calls of one kind run in a row. */
const batches = { mixed: 1, inRows: 20 };

export type AcquireTimes = Record<keyof typeof batches, Times>;

const noTimes = (): Times => ({
  acquire: [],
  release: [],
  evalsha: [],
  empty: [],
  agent: [],
  take: [],
  bind: [],
  sign: [],
  releaseScript: [],
  end: [],
  offer: [],
});

const warmUpSeconds = 3;

export const run: Job<AcquireLoad, AcquireTimes> = async (load, signal) => {
  const { target, poolUid, redisUrl, seconds, seed } = load;
  const signingKey = createPrivateKey(load.signingKey);
  const client = createLoadClient(target, 1);
  const redis = connectRedis(redisUrl, createLogger("silent", "bench"));
  await whenReady(redis, 10_000);
  const store = createLeaseStore(redis);
  const keys = createAgentKeys(createSecretKey(Buffer.from(load.masterKey, "base64")));
  const agents = createAgentClient({ tokens: createAgentTokens(signingKey), keys });
  const sha = (await redis.script("LOAD", "return 1")) as string;
  let times = noTimes();
  const timed = async <T>(what: Timed, work: () => Promise<T>): Promise<T> => {
    const beganMs = performance.now();
    const result = await work();
    times[what].push(performance.now() - beganMs);
    return result;
  };
  const [{ browser, pod, address } = { browser: "", pod: "", address: "" }] = await browsersOf(store, poolUid);

  const variants = {
    async whole() {
      const session = await timed("acquire", () => client.acquire());
      await timed("release", () => client.release(session));
    },
    evalsha: () => timed("evalsha", () => redis.evalsha(sha, 0)),
    empty: () => timed("empty", () => client.post(emptyPath, {})),
    agent: () => timed("agent", () => agents.state({ browser, pod, address }, 0)),
    async steps() {
      const session = `bench${randomBytes(10).toString("hex")}`;
      const taken = await timed("take", () =>
        store.take(poolUid, { session, channel: "bench", request: sampleRequest(target.poolId, poolUid) }),
      );
      if (taken.kind !== "granted") throw new Error(`the pool has no idle browser: ${taken.kind}`);
      const { lease } = taken;
      const bound = await timed("bind", () => agents.bind(lease, bindOf(lease)));
      if (bound.kind !== "ok") throw new Error(`an agent did not bind: ${JSON.stringify(bound)}`);
      await timed("sign", async () => signSessionToken(signingKey, { sessionId: session, poolUid }));
      await timed("releaseScript", () => store.release(poolUid, session, "releasing", "released"));
      await timed("end", () => agents.end(lease, "none"));
      await timed("offer", () => store.offer(poolUid, lease));
    },
  };
  try {
    const random = seededRandom(seed);
    const measure = async (batch: number, forSeconds: number): Promise<Times> => {
      times = noTimes();
      await interleaved({ seconds: forSeconds, batch, random, signal }, variants);
      return times;
    };
    await measure(batches.inRows, warmUpSeconds);
    return { mixed: await measure(batches.mixed, seconds), inRows: await measure(batches.inRows, seconds) };
  } finally {
    redis.disconnect();
    await Promise.all([client.close(), agents.close()]);
  }
};

const browsersOf = async (
  store: ReturnType<typeof createLeaseStore>,
  poolUid: string,
): Promise<{ browser: string; pod: string; address: string }[]> =>
  (await store.snapshot(poolUid)).browsers.map(({ id, pod, address }) => ({ browser: id, pod, address }));

/** The request that `acquireBrowser` stores when a caller sets nothing. */
const sampleRequest = (id: string, uid: string): string =>
  JSON.stringify({ timeout_seconds: 600, max_session_seconds: 3600, pool: { id, uid }, project: "bench" });

const bindOf = ({ session, epoch, seq, request }: LeaseRecord) => ({
  session_id: session,
  epoch,
  seq,
  timeout_seconds: 600,
  max_seconds: 3600,
  request,
});
