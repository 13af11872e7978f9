/** The lease store on a real Redis, and minimal agents. */
import { createSecretKey, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Redis } from "ioredis";
import { createLeaseFence, type LeaseName } from "../../src/core/agent/lease-fence.ts";
import { type AbandonedSessions, createAbandonedSessions } from "../../src/core/leases/abandoned-sessions.ts";
import { type AgentClient, createAgentClient } from "../../src/core/leases/agent/agent-client.ts";
import { type Grants, startGrants } from "../../src/core/leases/grants.ts";
import { createLeaseStore, type LeaseStore } from "../../src/core/leases/lease-store.ts";
import { createRepairStore, type RepairStore } from "../../src/core/leases/repair-store.ts";
import { createReturningBrowsers, type ReturningBrowsers } from "../../src/core/leases/returning-browsers.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import type { AgentState, BindLease, EndLease, Fence } from "../../src/core/protocol/agent-api.ts";
import { createAgentKeys } from "../../src/core/protocol/agent-key.ts";
import { createAgentTokens } from "../../src/core/protocol/agent-token.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../src/platform/redis/connection.ts";
import { sharedServers } from "./control-plane.ts";
import { sendProven } from "./proven-answers.ts";

export const silent = createLogger("silent", "test");

/**
 * `close` ends it like a crash, `cut` breaks its connection, `unsubscribe` ends its subscription without its knowledge.
 */
export type Replica = Grants & { cut(): void; unsubscribe(poolUid: string): Promise<void> };

export type LeaseParts = {
  redis: RedisConnection;
  /** Breaks the connection for commands. */
  cut(): void;
  store: LeaseStore;
  repairs: RepairStore;
  agents: AgentClient;
  returningBrowsers: ReturningBrowsers;
  abandonedSessions: AbandonedSessions;
  /**
   * Grants of another API replica. `url`: another address of Redis; `checkMs`, `keptMs`, `beatMs`: as for startGrants.
   */
  replica(options?: { url?: string; checkMs?: number; keptMs?: number; beatMs?: number }): Promise<Replica>;
  /** Adds an idle browser to the pool and returns its id. `pod`: its name, by default `usualPod`. */
  addBrowser(poolUid: string, address?: string, configHash?: string, pod?: string): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** The name of a pod, where a test gives none: then its agent has this pod's key. */
export const usualPod = "pod-bcdfghjklmnp";

/** The keys of all agents. */
export const agentKeys = createAgentKeys(createSecretKey(randomBytes(32)));

/** Works only with a single server. */
const cut = (redis: RedisConnection): void => {
  if (redis instanceof Redis) redis.stream.destroy();
};

/** `url`: by default the Redis that all tests share. */
export const startLeaseParts = async (url?: string): Promise<LeaseParts> => {
  const redisUrl = url ?? (await sharedServers()).redisUrl;
  const redis = connectRedis(redisUrl, silent);
  await whenReady(redis, 10_000);
  const store = createLeaseStore(redis);
  const repairs = createRepairStore(redis);
  const tokens = createAgentTokens(generateKeyPairSync("ed25519").privateKey);
  const agents = createAgentClient({ tokens, keys: agentKeys });
  const returningBrowsers = createReturningBrowsers({ store, agents, log: silent });
  const abandonedSessions = createAbandonedSessions({ store, agents, returningBrowsers, log: silent });
  const replicas: Grants[] = [];
  return {
    redis,
    cut: () => cut(redis),
    store,
    repairs,
    agents,
    returningBrowsers,
    abandonedSessions,
    async replica({ url: own = redisUrl, ...options } = {}) {
      const subscriber = connectRedis(own, silent);
      await whenReady(subscriber, 10_000);
      const grants = startGrants({ subscriber, store, replicaId: newId(), log: silent, ...options });
      replicas.push(grants);
      return {
        ...grants,
        cut: () => cut(subscriber),
        unsubscribe: async (poolUid) => void (await subscriber.sunsubscribe(grants.channel(poolUid))),
      };
    },
    async addBrowser(poolUid, address = "127.0.0.9:7510", configHash = "hash", pod = usualPod) {
      const id = newId();
      await repairs.establish(poolUid, 1);
      const record = { id, pod, address, config: configHash, seq: 0, state: "idle" as const };
      const examined = await repairs.examine(poolUid, id);
      await repairs.repair(poolUid, examined, { record, former: "kept" });
      return id;
    },
    async [Symbol.asyncDispose]() {
      await abandonedSessions.drain(5000);
      await Promise.all([...replicas.map((grants) => grants.close()), agents.close()]);
      redis.disconnect();
    },
  };
};

/**
 * How a small agent answers a bind. `hold`: only after `letGo`; `refuse`: its browser is not healthy; `lie`: as if it
 * had bound; `unauthorized`: it takes nobody's token, for no call. `reset`: an end begins a reset, which lasts until
 * `endReset`.
 */
export type Behaviour = "ok" | "hold" | "refuse" | "lie" | "reset" | "unauthorized";

export type SmallAgent = {
  address: string;
  behaviour: Behaviour;
  /** How far its clock is ahead of the other clocks; negative when it is behind. */
  aheadMs: number;
  /** Lets held binds continue. */
  letGo(): void;
  /** Ends the reset of its browser. */
  endReset(): void;
  /** Resolves when a bind has arrived. */
  asked: Promise<void>;
  holder(): string | undefined;
  /** The highest fence that the agent has seen. */
  fence(): Fence;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Speaks the lease protocol of src/core/protocol/agent-api.ts with the real fence but without a browser. `key`: proves
 * its answers; by default that of `usualPod`.
 */
export const startSmallAgent = async (
  behaviour: Behaviour = "ok",
  key: KeyObject = agentKeys.keyOf(usualPod),
): Promise<SmallAgent> => {
  const fence = createLeaseFence();
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const requests = new Map<string, string>();
  const isAnew = Promise.withResolvers<void>();
  let resetting = false;
  let boundAt = "";
  const state = (): AgentState => {
    const holder = fence.holder();
    const request = requests.get(holder?.session_id ?? "") ?? "";
    const lease = holder ? { ...holder, connections: 0, bound_at: boundAt, request } : null;
    return { pod_uid: "pod", fence: fence.highest(), binding: fence.claimant()?.session_id ?? null, resetting, lease };
  };
  const bind = async (lease: LeaseName): Promise<string | undefined> => {
    asked.resolve();
    if (agent.behaviour === "lie") return undefined;
    const claim = fence.claim(lease);
    if (claim === "stale") return "stale_fence";
    if (agent.behaviour === "hold") await held.promise;
    if (agent.behaviour === "refuse") {
      fence.refuse(lease);
      return "browser_unhealthy";
    }
    const isGranted = fence.grant(lease);
    if (isGranted) boundAt = new Date(Date.now() + agent.aheadMs).toISOString();
    return isGranted || claim === "repeated" ? undefined : "browser_unhealthy";
  };
  const end = (lease: LeaseName): string | undefined => (fence.end(lease) === "not_holder" ? "not_holder" : undefined);
  const send = (request: IncomingMessage, response: ServerResponse, status: number, answered: object): void =>
    sendProven(key, { request, response }, status, answered);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === "/reset") {
      await isAnew.promise;
      return send(request, response, 200, state());
    }
    const raisedTo = /^\/state\?epoch=(\d+)$/.exec(request.url ?? "")?.[1];
    if (raisedTo !== undefined) {
      fence.raise(Number(raisedTo));
      return send(request, response, 200, state());
    }
    const body = (await json(request)) as BindLease & Pick<EndLease, "reuse">;
    const lease = { session_id: body.session_id, epoch: body.epoch, seq: body.seq };
    if (request.method === "PUT") requests.set(body.session_id, body.request);
    const code = request.method === "PUT" ? await bind(lease) : end(lease);
    if (request.method === "DELETE" && agent.behaviour === "reset" && body.reuse === "reset") {
      resetting = true;
      void isAnew.promise.then(() => {
        resetting = false;
      });
    }
    if (code) send(request, response, 409, { code, message: "no" });
    else send(request, response, 200, state());
  };
  const server = createServer((request, response) => {
    if (agent.behaviour === "unauthorized")
      return send(request, response, 401, { code: "unauthorized", message: "no", now: Date.now() });
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const agent: SmallAgent = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviour,
    aheadMs: 0,
    letGo: held.resolve,
    endReset: isAnew.resolve,
    asked: asked.promise,
    holder: () => fence.holder()?.session_id,
    fence: fence.highest,
    async [Symbol.asyncDispose]() {
      held.resolve();
      isAnew.resolve();
      server.closeAllConnections();
      server.close();
    },
  };
  return agent;
};
