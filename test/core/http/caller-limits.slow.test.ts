/** The bounds of callers over HTTP: who reaches one gets 429, and nobody else notices. */
import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request as send } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningApi, startApi } from "../../../src/cmd/api.ts";
import type { CallerBounds } from "../../../src/core/config/config.ts";
import { browserKind } from "../../../src/core/model/browsers/browser.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { holdSession } from "../../support/held-session.ts";
import { startLeaseParts, usualPod } from "../../support/lease-parts.ts";
import { provenUpgrade } from "../../support/proven-answers.ts";
import { type OrgApi, startOrgApi } from "../projects/org-api.ts";

const settings = {
  BROWSERPOOL_KEY_REQUESTS_PER_SECOND: "1000",
  BROWSERPOOL_PROJECT_REQUESTS_PER_SECOND: "1000",
  BROWSERPOOL_KEY_OPEN_REQUESTS: "6",
  BROWSERPOOL_PROJECT_OPEN_REQUESTS: "9",
  BROWSERPOOL_KEY_WAITING_ACQUIRES: "2",
  BROWSERPOOL_PROJECT_WAITING_ACQUIRES: "3",
  BROWSERPOOL_KEY_KEPT_ANSWERS_MB: "1",
  BROWSERPOOL_PROJECT_KEPT_ANSWERS_MB: "1",
  BROWSERPOOL_FAILED_ATTEMPTS_PER_MINUTE: "60",
  BROWSERPOOL_PROJECT_CONNECTIONS: "2",
  BROWSERPOOL_TRUSTED_PROXIES: "127.0.0.0/8",
};

let api: OrgApi;
beforeAll(async () => {
  api = await startOrgApi(settings);
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** Another replica of the same organization, with other bounds. */
const startReplica = async (callers: Partial<CallerBounds>): Promise<RunningApi> => {
  const { kubeconfigPath } = await sharedServers();
  const { config } = api.services;
  const own = { ...config, callers: { ...config.callers, ...callers } };
  return startApi({ config: own, kubeconfigPath }, createLogger("error", "test"));
};

type Caller = { key: string; project: string };

/** A new project with a key, which works. */
const newProject = async (): Promise<string> => {
  // The organization's key has the bound of every key.
  const created = await eventually("the organization's key may ask", async () => {
    const answer = await api.call("POST", "/org/projects", { body: { name: `n-${newId()}` } });
    return answer.status === 200 || answer.status === 201 ? (answer.body as { id: string }) : undefined;
  });
  return created.id;
};
const newCaller = async (project?: string): Promise<Caller> => {
  const of = project ?? (await newProject());
  const body = { name: "key", project_id: of };
  const { key } = await eventually("there is a key", async () => {
    const answer = await api.call("POST", "/org/api_keys", { body });
    return answer.status < 300 ? (answer.body as { key: string }) : undefined;
  });
  return { key, project: of };
};

type Asked = { body?: object; headers?: Record<string, string> };
const ask = ({ key }: Caller, method: string, path: string, { body, headers }: Asked = {}) =>
  fetch(api.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
const list = (caller: Caller): Promise<Response> => ask(caller, "GET", "/browser_pools");
const refusedOf = (answers: Response[]): Response[] => answers.filter(({ status }) => status === 429);
/** What every refusal by a bound of callers says. */
const expectRefusal = async (answer: Response | undefined): Promise<void> => {
  expect(answer?.status).toBe(429);
  expect(Number(answer?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(Number(answer?.headers.get("retry-after-ms"))).toBeGreaterThan(0);
  expect(answer?.headers.get("x-should-retry")).toBeNull();
  expect(await answer?.json()).toMatchObject({ code: "rate_limited" });
};
const limitedBy = async (limit: string, url = api.url): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`browserpool_limited_requests_total\\{limit="${limit}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
};

/** Requests to the API server so far, without watches and the check whether it is ready. */
const kubeRequests = async (): Promise<number> =>
  (await (await fetch(`${api.url}/metrics`)).text())
    .split("\n")
    .filter((line) => line.startsWith("browserpool_kube_requests_total{") && !/"WATCH"|"readyz"/.test(line))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);

describe("the rate of requests", () => {
  /** A replica with low rates: a burst of 4 for a key and of 6 for a project passes at once. */
  let strict: RunningApi;
  beforeAll(async () => {
    strict = await startReplica({ requestsPerSecond: { key: 2, project: 3 }, openRequests: { key: 99, project: 99 } });
  });
  afterAll(() => strict?.stop());

  const known = async (...callers: Caller[]): Promise<void> => {
    await eventually("the replica knows the keys", () =>
      callers.every(({ key }) => strict.services.apiKeys.authenticate(key)),
    );
  };
  const get = ({ key }: Caller): Promise<Response> =>
    fetch(`${strict.url}/browser_pools`, { headers: { authorization: `Bearer ${key}` } });
  const burst = (caller: Caller, count: number): Promise<Response[]> =>
    Promise.all(Array.from({ length: count }, () => get(caller)));

  // LIMIT-13, LIMIT-16, HTTP-20
  test("has a bound for each key: above it is 429, and the project's other key and other projects go on", async () => {
    const [loud, other] = [await newCaller(), await newCaller()];
    const sibling = await newCaller(loud.project);
    await known(loud, other, sibling);
    const before = await limitedBy("request_rate", strict.url);
    const answers = await burst(loud, 30);
    const refused = refusedOf(answers);
    expect(answers.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(4);
    expect(refused.length).toBeGreaterThan(10);
    await expectRefusal(refused[0]);
    expect([(await get(other)).status, (await get(sibling)).status]).toEqual([200, 200]);
    expect((await limitedBy("request_rate", strict.url)) - before).toBe(refused.length);
  });

  test("has a bound for all keys of a project together", async () => {
    const first = await newCaller();
    const callers = [first, await newCaller(first.project), await newCaller(first.project)];
    await known(...callers);
    const answers = (await Promise.all(callers.map((caller) => burst(caller, 4)))).flat();
    const [refused] = refusedOf(answers);
    expect(await refused?.json()).toMatchObject({ message: expect.stringContaining("this project may send 3") });
  });

  test("serves again who waits as told", async () => {
    const caller = await newCaller();
    await known(caller);
    const [refused] = refusedOf(await burst(caller, 12));
    expect(refused?.status).toBe(429);
    await sleep(Number(refused?.headers.get("retry-after-ms")) + 50);
    expect((await get(caller)).status).toBe(200);
  });
});

describe("open requests", () => {
  /** An acquire of a pool without browsers: the test has no operator. */
  const acquire = (caller: Caller, pool: string, signal: AbortSignal) =>
    fetch(`${api.url}/browser_pools/${pool}/acquire`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
      body: JSON.stringify({ acquire_timeout_seconds: 60 }),
      signal,
    }).then(
      (answer) => answer,
      () => undefined,
    );
  const newPool = async (caller: Caller): Promise<{ id: string }> =>
    (await ask(caller, "POST", "/browser_pools", { body: { size: 1 } })).json() as Promise<{ id: string }>;
  /** How many of so many acquires wait; the others' answers. */
  const waitingOf = async (callers: Caller[], pool: string, hangUp: AbortController) => {
    const answers: Response[] = [];
    const asked = callers.map((caller) =>
      acquire(caller, pool, hangUp.signal).then((answer) => answer && answers.push(answer)),
    );
    await sleep(700);
    return { waiting: asked.length - answers.length, answers };
  };

  // LIMIT-14
  test("that wait for a browser have a bound for each key and project, and no more is in the queue", async () => {
    const first = await newCaller();
    const second = await newCaller(first.project);
    const other = await newCaller();
    const { id } = await newPool(first);
    const hangUp = new AbortController();
    const before = await limitedBy("waiting_acquires");
    const ofFirst = await waitingOf([first, first, first, first], id, hangUp);
    expect(ofFirst.waiting).toBe(2);
    for (const answer of ofFirst.answers) await expectRefusal(answer);
    // Two more places of the second key, of which the project has one.
    expect((await waitingOf([second, second, second], id, hangUp)).waiting).toBe(1);
    expect((await waitingOf([other], (await newPool(other)).id, hangUp)).waiting).toBe(1);
    expect(await limitedBy("waiting_acquires")).toBe(before + 4);
    hangUp.abort();
    await sleep(300);
    const again = new AbortController();
    expect((await waitingOf([first], id, again)).waiting).toBe(1);
    again.abort();
  });

  /** A request whose body does not come. */
  const halfSent = (caller: Caller) => {
    const request = send(`${api.url}/browser_pools`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json", "content-length": "9" },
    });
    request.on("error", () => undefined);
    request.flushHeaders();
    return request;
  };

  // LIMIT-22
  test("count from their beginning to their end, and one too many is refused before its body is read", async () => {
    const caller = await newCaller();
    const open: ReturnType<typeof halfSent>[] = [];
    await eventually("six are open", async () => {
      if ((await list(caller)).status === 429) return true;
      if (open.length < 6) open.push(halfSent(caller));
      return false;
    });
    expect(open).toHaveLength(6);
    await expectRefusal(await list(caller));
    const tooMany = halfSent(caller);
    const [answer] = await once(tooMany, "response");
    expect(answer.statusCode).toBe(429);
    tooMany.destroy();
    expect((await list(await newCaller())).status).toBe(200);
    open[0]?.destroy();
    await eventually("there is room for one", async () => (await list(caller)).status === 200);
    for (const request of open) request.destroy();
  });
});

describe("answers that are kept for repetitions", () => {
  // LIMIT-15
  test("have a bound in bytes: then nothing new is done, repetitions still get theirs", async () => {
    const caller = await newCaller();
    const other = await newCaller();
    const create = (of: Caller, key: string) =>
      ask(of, "POST", "/credentials", {
        body: { name: `c-${key}`, domain: "a.example", values: { a: "b" } },
        headers: { "idempotency-key": key },
      });
    const first = newId();
    expect((await create(caller, first)).status).toBe(201);
    // Fills the room as answers of 1 MB would.
    const { keyId } = api.services.apiKeys.authenticate(caller.key) ?? { keyId: "" };
    await fillRoom(`key/${keyId}`);
    await expectRefusal(await create(caller, newId()));
    expect((await create(caller, first)).status).toBe(201);
    expect(
      (await ask(caller, "GET", "/credentials?limit=100").then((answer) => answer.json())) as object[],
    ).toHaveLength(1);
    expect((await create(other, newId())).status).toBe(201);
  });
});

const fillRoom = async (holder: string): Promise<void> => {
  const { connectRedis, whenReady } = await import("../../../src/platform/redis/connection.ts");
  const { keptBytesKey } = await import("../../../src/platform/redis/keys.ts");
  const redis = connectRedis((await sharedServers()).redisUrl, createLogger("silent", "test"));
  await whenReady(redis, 5000);
  await redis.hset(keptBytesKey(holder), { [Math.floor(Date.now() / 3_600_000)]: 999_999 });
  redis.disconnect();
};

describe("CDP connections", () => {
  // LIMIT-24
  test("have a bound for each project", async () => {
    await using parts = await startLeaseParts();
    const agentKey = api.services.agentKeys.keyOf(usualPod);
    // An agent that takes every upgrade.
    const agent = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (head) => socket.resume().write(provenUpgrade(agentKey, String(head))));
    }).listen(0, "127.0.0.1");
    await once(agent, "listening");
    const address = `127.0.0.1:${(agent.address() as AddressInfo).port}`;
    const connect = async (project: string): Promise<WebSocketAnswer> => {
      const { session, jwt } = await holdSession({ parts, signingKey: api.services.signingKey }, { project, address });
      return upgrade(`${api.url}/gateway/${session}/cdp?jwt=${jwt}`);
    };
    try {
      const [one, two] = [await connect("one"), await connect("one")];
      expect([one.status, two.status]).toEqual([101, 101]);
      const third = await connect("one");
      expect([third.status, third.headers["retry-after"]]).toEqual([429, "1"]);
      expect((await connect("two")).status).toBe(101);
      one.end();
      await eventually("there is room", async () => (await connect("one")).status === 101);
    } finally {
      for (const end of upgraded.splice(0)) end();
      agent.close();
    }
  });
});
type WebSocketAnswer = { status: number; headers: IncomingHttpHeaders; end(): void };
const upgraded: (() => void)[] = [];
const upgrade = (url: string): Promise<WebSocketAnswer> =>
  new Promise((resolve, reject) => {
    const headers = { connection: "Upgrade", upgrade: "websocket" };
    const request = send(url, { headers });
    const answered = ({ statusCode = 0, headers: received }: IncomingMessage): void => {
      const end = (): void => void request.destroy();
      upgraded.push(end);
      resolve({ status: statusCode, headers: received, end });
    };
    request.on("upgrade", (answer, socket) => {
      upgraded.push(() => void socket.destroy());
      socket.on("error", () => undefined);
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, end: () => void socket.destroy() });
    });
    request.on("response", answered);
    request.on("error", reject);
    request.end();
  });

describe("unknown keys", () => {
  const guess = (address: string, key = newId()) =>
    fetch(`${api.url}/browser_pools`, { headers: { authorization: `Bearer ${key}`, "x-forwarded-for": address } });

  // LIMIT-18, LIMIT-19
  test("have a bound for each address, without a word to the API server, and known keys from there are served", async () => {
    const caller = await newCaller();
    const before = await kubeRequests();
    const answers = await Promise.all(Array.from({ length: 150 }, () => guess("203.0.113.1")));
    expect(await kubeRequests()).toBe(before);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    await expectRefusal(refusedOf(answers)[0]);
    expect((await guess("203.0.113.2")).status).toBe(401);
    expect((await guess("1.1.1.1, 203.0.113.1")).status).toBe(429);
    expect((await guess("203.0.113.1", caller.key)).status).toBe(200);
  });
});

describe("the hosted login", () => {
  const place = `${newId()}/${newId()}`;
  const open = (path: string, ticket: string) =>
    fetch(`${api.url}/login/${path}/form`, { headers: { cookie: `__Host-browserpool_login=${ticket}` } });
  const exchange = (path: string, code: string) =>
    fetch(`${api.url}/login/${path}`, { method: "POST", body: new URLSearchParams({ code }), redirect: "manual" });

  // CONNECTION-18, LIMIT-19
  test("asks the API server nothing for a ticket that is missing, malformed, invented, or of another connection", async () => {
    const caller = await newCaller();
    const fields = { domain: "shop.example", profile_name: "p" };
    const made = await ask(caller, "POST", "/auth/connections", { body: fields });
    const { id } = (await made.json()) as { id: string };
    const login = await ask(caller, "POST", `/auth/connections/${id}/login`);
    const { handoff_code: code } = (await login.json()) as { handoff_code: string };
    const before = await kubeRequests();
    const tickets = ["", "x", "x".repeat(72), "x".repeat(4000), code];
    const answers = await Promise.all(
      tickets.flatMap((ticket) => [
        open(place, ticket),
        open(`${caller.project}/${id}`, ticket),
        exchange(place, ticket),
      ]),
    );
    const invented = ["", "x".repeat(72)].map((wrong) => exchange(`${caller.project}/${id}`, wrong));
    expect(new Set([...answers, ...(await Promise.all(invented))].map(({ status }) => status))).toEqual(new Set([403]));
    expect(await kubeRequests()).toBe(before);
    expect((await exchange(`${caller.project}/${id}`, code)).status).toBe(303);
    expect(await kubeRequests()).toBeGreaterThan(before);
  });
});

describe("on-demand browsers", () => {
  const begin = (caller: Caller, signal: AbortSignal) =>
    fetch(`${api.url}/browsers`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
      body: JSON.stringify({ headless: true }),
      signal,
    }).then(
      ({ status }) => status,
      () => 0,
    );

  // LIMIT-2, LIMIT-10, LIMIT-21
  test("and pools that grow at once share the cap of their project", async () => {
    const caller = await newCaller();
    await eventually("the cap is set", async () => {
      const body = { max_concurrent_sessions: 5 };
      return (await api.call("PATCH", `/org/projects/${caller.project}/limits`, { body })).status === 200;
    });
    await eventually(
      "the replica knows it",
      () => api.services.projects.find(caller.project)?.maxConcurrentSessions === 5,
    );
    const another = await newCaller(caller.project);
    const hangUp = new AbortController();
    const pools = Array.from({ length: 5 }, () => ask(caller, "POST", "/browser_pools", { body: { size: 2 } }));
    const browsers = Array.from({ length: 5 }, () => begin(another, hangUp.signal));
    const made = (await Promise.all(pools)).filter(({ ok }) => ok).length;
    await sleep(500);
    const started = (await api.services.kube.list(browserKind, { namespace: caller.project })).items.length;
    expect(2 * made + started).toBeLessThanOrEqual(5);
    expect(2 * made + started).toBeGreaterThanOrEqual(4);
    hangUp.abort();
    await Promise.all(browsers);
  });
});

// HTTP-15
test("of many pools that want one name at once one gets it", async () => {
  const caller = await newCaller();
  const name = `n-${newId()}`;
  const asked = Array.from({ length: 5 }, () => ask(caller, "POST", "/browser_pools", { body: { size: 1, name } }));
  expect((await Promise.all(asked)).map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
});
