/**
 * What the fault tests of sessions work with: an API replica in this process, whose parts may fail, beside an operator
 * and agents that are well; and what is true of sessions, by Redis, the agents and the API server, whatever callers
 * were told.
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { expect } from "vitest";
import { type RunningApi, startApi } from "../../src/cmd/api.ts";
import type { ServiceDeps } from "../../src/cmd/service-deps.ts";
import { readConfig } from "../../src/core/config/config.ts";
import { createAbandonedSessions } from "../../src/core/leases/abandoned-sessions.ts";
import { createReturningBrowsers } from "../../src/core/leases/returning-browsers.ts";
import { browserKind, isOver } from "../../src/core/model/browsers/browser.ts";
import { createAbandonedBrowsers } from "../../src/core/sessions/abandoned-browsers.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { projectLabel } from "../../src/platform/kinds/identity.ts";
import { namespaces } from "../../src/platform/kube/resource-type.ts";
import { reservedSessionsKey } from "../../src/platform/redis/keys.ts";
import { eventually } from "../support/eventually.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";
import type { FaultKind } from "./injector.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they use
type Body = any;

export type Asked = { method: string; path: string; body?: object; headers?: Record<string, string> };
export type Answer = { status: number; headers: Headers; body: Body };

/** A request that goes on: what it has asked, how its caller hangs up, and the parts that serve it. */
export type Request = { asked: Asked; id: string; hangUp: AbortController; parts?: ServiceDeps };

/** What became of the request: its answer, or its caller has hung up. */
export type Told = Answer | "hung up";

export type SessionParts = {
  cluster: SimulatedCluster;
  redis: Redis;
  /** The parts of the replica as they are without faults. */
  whole: ServiceDeps;
  projectId: string;
  request(asked: Asked): Request;
  /** Sends it, on parts of which some may fail. */
  serve(request: Request, parts: ServiceDeps): Promise<Told>;
  /** Sends it while all is well. */
  ask(asked: Asked): Promise<Answer>;
  /** Its caller hangs up; resolves when the replica has noticed. */
  leave(request: Request): Promise<void>;
  /** Resolves when the replica has ended all that it does for the request, in the background too. */
  settle(request: Pick<Request, "id" | "hangUp" | "parts">): Promise<void>;
  /** Resolves when these sessions hold a browser each and nothing else is held, reserved or waited for. */
  onlyHeld(...sessions: string[]): Promise<void>;
  /** The session that has the name, as far as another one can't get it. */
  holderOf(name: string): Promise<string | undefined>;
  [Symbol.asyncDispose](): Promise<void>;
};

const systemNamespace = "browserpool-system";

/** `env`: settings of the replica and of the operator. */
export const startSessionParts = async (env: Record<string, string> = {}): Promise<SessionParts> => {
  await using starting = new AsyncDisposableStack();
  const stack = starting.use(new AsyncDisposableStack());
  const cluster = stack.use(await startSimulatedCluster({ env }));
  const operator = cluster.startOperator("operator");
  const namespace = await cluster.kube.get(namespaces, { name: cluster.namespace });
  const projectId = namespace?.metadata.labels?.[projectLabel] ?? "";
  const auditFile = join(cluster.dataDir, "audit.jsonl");
  const config = readConfig({
    ...env,
    REDIS_URL: cluster.redisUrl,
    BROWSERPOOL_PORT: "0",
    BROWSERPOOL_AUDIT_LOG: auditFile,
    BROWSERPOOL_STOP_GRACE_SECONDS: "0.1",
    BROWSERPOOL_SYSTEM_NAMESPACE: systemNamespace,
    BROWSERPOOL_DEFAULT_PROJECT: projectId,
    BROWSERPOOL_FILL_RATE_CAP: "6000",
    BROWSERPOOL_KEY_REQUESTS_PER_SECOND: "1000",
    BROWSERPOOL_PROJECT_REQUESTS_PER_SECOND: "1000",
  });
  const api: RunningApi = await startApi(
    { config, kubeconfigPath: cluster.kubeconfigPath },
    createLogger("silent", "test"),
  );
  stack.defer(() => api.stop());
  const redis = new Redis(cluster.redisUrl);
  stack.defer(() => redis.disconnect());
  await operator.logged("leading");

  /** Requests whose callers are still there, as the replica sees it. */
  let open = 0;
  const { callerLimits } = api.services;
  const enter: ServiceDeps["callerLimits"]["enter"] = (kind, id) => {
    open += 1;
    const leave = callerLimits.enter(kind, id);
    return () => {
      open -= 1;
      leave();
    };
  };
  Object.assign(api.services, { callerLimits: { ...callerLimits, enter } });
  const whole = { ...api.services };

  /** The same parts with what goes on in the background: that meets the faults, too. */
  const withBackground = (parts: ServiceDeps): ServiceDeps => {
    const returningBrowsers = createReturningBrowsers(parts);
    const abandonedSessions = createAbandonedSessions({ ...parts, returningBrowsers });
    const abandonedBrowsers = createAbandonedBrowsers(parts);
    // Of a creation in doubt it waits for longer than a test lasts.
    stack.defer(() => abandonedBrowsers.drain(0));
    return { ...parts, returningBrowsers, abandonedSessions, abandonedBrowsers };
  };
  const send = async ({ asked: { method, path, body, headers }, id, hangUp }: Request): Promise<Answer> => {
    const response = await fetch(api.url + path, {
      method,
      signal: hangUp.signal,
      headers: {
        authorization: `Bearer ${cluster.apiKey}`,
        "x-request-id": id,
        ...(body && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
  };
  const request = (asked: Asked): Request => ({ asked, id: randomUUID(), hangUp: new AbortController() });
  const isHandled = async ({ id }: Pick<Request, "id">): Promise<boolean> =>
    (await readFile(auditFile, "utf8")).includes(`"request_id":"${id}"`);

  const heldNow = async () => {
    const [pods, onDemand, reserved] = await Promise.all([
      cluster.node.pods(),
      cluster.kube.list(browserKind, { namespace: cluster.namespace }),
      redis.zrange(reservedSessionsKey(systemNamespace), "0", "-1"),
    ]);
    const known = onDemand.items.map(({ metadata }) => metadata.name);
    const browsers = onDemand.items.filter((browser) => !isOver(browser)).map(({ metadata }) => metadata);
    const owners = [...whole.pools.list(), ...whole.browsers.list()].map(({ metadata }) => metadata.uid);
    const snapshots = await Promise.all(owners.map((uid) => whole.store.snapshot(uid)));
    const leases = await Promise.all(owners.map((uid) => whole.store.leaseTexts(uid)));
    return {
      agents: pods.flatMap(({ holder }) => holder ?? []).sort(),
      leases: leases.flatMap((texts) => texts.map((text) => JSON.parse(text).session as string)).sort(),
      waiting: snapshots.reduce((sum, one) => sum + one.waiting, 0),
      browsers: browsers.map(({ name }) => name),
      // A reservation of what is there, or was, counts no more.
      reserved: reserved.map((member) => member.split("|")[1] ?? "").filter((name) => !known.includes(name)),
    };
  };
  starting.move();
  return {
    cluster,
    redis,
    whole,
    projectId,
    request,
    async serve(asking, parts) {
      asking.parts = withBackground(parts);
      Object.assign(api.services, asking.parts);
      try {
        return await send(asking);
      } catch (error) {
        if (asking.hangUp.signal.aborted) return "hung up";
        throw error;
      } finally {
        Object.assign(api.services, whole);
      }
    },
    ask: (asked) => send(request(asked)),
    async leave({ hangUp }) {
      hangUp.abort();
      await eventually("the replica notices that the caller has gone", () => open === 0);
    },
    async settle(asking) {
      if (asking.hangUp.signal.aborted) await eventually("the request is over", () => isHandled(asking));
      for (const { abandonedSessions, returningBrowsers } of [asking.parts ?? whole, whole]) {
        await abandonedSessions.drain(60_000);
        await returningBrowsers.drain(60_000);
      }
    },
    async onlyHeld(...sessions) {
      let now: Awaited<ReturnType<typeof heldNow>> | undefined;
      const wanted = sessions.toSorted();
      await eventually(
        () => `only [${wanted}] is held; last seen: ${JSON.stringify(now)}`,
        async () => {
          now = await heldNow();
          const { agents, leases, waiting, browsers, reserved } = now;
          return (
            [agents, leases].every((held) => held.join() === wanted.join()) &&
            waiting === 0 &&
            [...browsers, ...reserved].every((name) => wanted.includes(name))
          );
        },
      );
    },
    async holderOf(name) {
      const owner = await whole.names.find(projectId, name);
      return owner && (await whole.store.isAlive(owner.poolUid, owner.session)) ? owner.session : undefined;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

/** The kinds of faults of one request. A part that is away is, one call later, one whose last call was not answered. */
export const requestFaults: readonly FaultKind[] = ["refused", "lost", "last", "gone"];

/** What a caller is told of a fault that is none of its own. */
export const expectUnavailable = ({ status, headers, body }: Answer): void => {
  expect([status, body.code]).toEqual([503, "unavailable"]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
};
