/** On-demand browsers with the public SDK and with YAML, from their start to a day after their end. */
import { setTimeout as sleep } from "node:timers/promises";
import Kernel from "@onkernel/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Browser, browserKind } from "../../src/core/model/browsers/browser.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { collect } from "../support/filled-pool.ts";
import { openCdp } from "../support/pool-client.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let kernel: Kernel;
beforeAll(async () => {
  stack = await startStack();
  kernel = stack.kernel;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const newName = (): string => `n-${newId()}`;
const resourceOf = async (name: string): Promise<Browser | undefined> =>
  (await stack.kube.get(browserKind, { namespace: stack.namespace, name })) as Browser | undefined;
const whenPhase = (name: string, phase: string): Promise<Browser> =>
  eventually(`${name} is ${phase}`, async () => {
    const browser = await resourceOf(name);
    return browser?.status?.phase === phase && browser;
  });
const podsOf = async (id: string): Promise<string[]> =>
  (await stack.kube.list(pods, { namespace: stack.namespace })).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith(`${id}-`));
const apply = (name: string, spec: object) =>
  stack.kube.create(browserKind, { metadata: { name, namespace: stack.namespace }, spec } as Browser);
const notFound = { status: 404, error: { code: "not_found" } };

describe("by HTTP", () => {
  // BROWSER-1, BROWSER-2, BROWSER-4
  test("the answer comes when the browser is up, and shows what was asked for", async () => {
    const name = newName();
    const session = await kernel.browsers.create({
      headless: true,
      name,
      tags: { team: "a" },
      timeout_seconds: 90,
      viewport: { width: 1024, height: 768 },
      start_url: "data:text/html,<title>mine</title>",
    });
    expect(session).toMatchObject({
      name,
      tags: { team: "a" },
      headless: true,
      timeout_seconds: 90,
      viewport: { width: 1024, height: 768, refresh_rate: 60 },
      start_url: "data:text/html,<title>mine</title>",
      vaults: [],
    });
    expect(session).not.toHaveProperty("pool");
    const cdp = await openCdp(session);
    expect(await cdp.version()).toContain("Chrome");
    cdp.close();
    expect(await kernel.browsers.retrieve(session.session_id)).toMatchObject({ session_id: session.session_id, name });
    expect(await kernel.browsers.retrieve(name)).toMatchObject({ session_id: session.session_id });
    await whenPhase(session.session_id, "Active");
    await kernel.browsers.deleteByID(name);
  });

  // BROWSER-1, BROWSER-3
  test("the default timeout is a minute, and the browser adds no pool", async () => {
    const { session_id, timeout_seconds } = await kernel.browsers.create({ headless: true });
    expect(timeout_seconds).toBe(60);
    expect(await collect(kernel.browserPools.list())).toEqual([]);
    await kernel.browsers.deleteByID(session_id);
  });

  // BROWSER-8, LEASE-22, LEASE-23
  test("its end destroys it for good, can be read for a day, and frees its name", async () => {
    const name = newName();
    const { session_id, cdp_ws_url } = await kernel.browsers.create({ headless: true, name });
    const cdp = await openCdp({ cdp_ws_url });
    await kernel.browsers.deleteByID(session_id);
    await cdp.closed;
    await expect(kernel.browsers.retrieve(session_id)).rejects.toMatchObject(notFound);
    await expect(kernel.browsers.deleteByID(session_id)).rejects.toMatchObject(notFound);
    const { status } = await whenPhase(session_id, "Ended");
    expect(status).toMatchObject({ endReason: "deleted", endTime: expect.stringMatching(/Z$/) });
    await eventually("no pod is left", async () => (await podsOf(session_id)).length === 0);
    expect(await kernel.browsers.retrieve(session_id, { include_deleted: true })).toMatchObject({
      session_id,
      deleted_at: expect.stringMatching(/Z$/),
    });
    const ids = async (query: object): Promise<string[]> =>
      (await collect(kernel.browsers.list({ query: name, ...query }))).map((one) => one.session_id);
    expect(await ids({ status: "active" })).toEqual([]);
    expect(await ids({ status: "deleted" })).toEqual([session_id]);
    const second = await kernel.browsers.create({ headless: true, name });
    // Nothing restarts after its end.
    expect(await podsOf(session_id)).toEqual([]);
    await kernel.browsers.deleteByID(second.session_id);
  });

  // LEASE-31
  test("it ends after its timeout without a connection", async () => {
    const { session_id } = await kernel.browsers.create({ headless: true, timeout_seconds: 10 });
    const { status } = await eventually("it has ended", async () => {
      const browser = await resourceOf(session_id);
      return browser?.status?.phase === "Ended" && browser;
    });
    expect(status?.endReason).toBe("timeout");
  }, 60_000);

  test("names are unique among active sessions", async () => {
    const name = newName();
    const first = await kernel.browsers.create({ headless: true, name });
    const rival = new Kernel({ baseURL: stack.url, apiKey: stack.api_key, maxRetries: 0 });
    await expect(rival.browsers.create({ headless: true, name })).rejects.toMatchObject({
      status: 409,
      error: { code: "name_taken" },
    });
    expect((await collect(kernel.browsers.list({ query: name }))).length).toBe(1);
    await kernel.browsers.deleteByID(first.session_id);
  });

  // LEASE-24
  test("name, tags and telemetry can change while it runs; omitted fields stay", async () => {
    const { session_id, name } = await kernel.browsers.create({ headless: true, name: newName(), tags: { a: "1" } });
    const renamed = newName();
    expect(await kernel.browsers.update(session_id, { name: renamed })).toMatchObject({
      name: renamed,
      tags: { a: "1" },
    });
    await expect(kernel.browsers.retrieve(name ?? "")).rejects.toMatchObject(notFound);
    expect(await kernel.browsers.update(renamed, { tags: { b: "2" }, telemetry: { enabled: true } })).toMatchObject({
      name: renamed,
      tags: { b: "2" },
      telemetry: { enabled: true },
    });
    const cleared = await kernel.browsers.update(session_id, { name: "", tags: {} });
    expect(cleared).not.toHaveProperty("name");
    expect(cleared).not.toHaveProperty("tags");
    await kernel.browsers.deleteByID(session_id);
    await expect(kernel.browsers.update(session_id, { name: "late" })).rejects.toMatchObject(notFound);
  });

  // TELEMETRY-26
  test("a telemetry destination that its holder has chosen can't be deleted before it ends", async () => {
    const { session_id } = await kernel.browsers.create({ headless: true });
    const body = { name: newName(), endpoint: "https://otlp.example.com" };
    const { id } = await kernel.post<{ id: string }>("/telemetry/destinations", { body });
    const chosen = { telemetry: { export: { otlp: { destination: { id } } } } };
    await kernel.patch(`/browsers/${session_id}`, { body: chosen });
    const inUse = {
      status: 409,
      error: { message: expect.stringContaining(`is in use by the browser ${session_id}`) },
    };
    await expect(kernel.delete(`/telemetry/destinations/${id}`)).rejects.toMatchObject(inUse);
    await kernel.browsers.deleteByID(session_id);
    await kernel.delete(`/telemetry/destinations/${id}`);
  });

  // HTTP-2, LIMIT-4, LIMIT-9, BROWSER-6, BROWSER-7, PROFILE-1
  test.each<[string, object, string]>([
    ["a time-out below 10 s", { timeout_seconds: 9 }, "timeout_seconds"],
    ["a time-out above three days", { timeout_seconds: 259_201 }, "timeout_seconds"],
    ["gpu with headless", { gpu: true, headless: true }, "gpu"],
    ["a proxy by id and by mode", { proxy: { id: "x", mode: "direct" } }, "proxy"],
    ["a profile by id and name", { profile: { id: "a", name: "b" } }, "profile"],
    ["51 tags", { tags: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`t${n}`, "x"])) }, "tags"],
    [
      "tags of 9 kB",
      { tags: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`t${n}`, "x".repeat(1000)])) },
      "tags",
    ],
    ["a vault without id", { vaults: [{}] }, "vaults"],
    ["a policy of the service's own", { chrome_policy: { ProxyMode: "direct" } }, "chrome_policy"],
  ])("%s is refused, and nothing is started", async (_, fields, path) => {
    const before = (await stack.kube.list(browserKind, { namespace: stack.namespace })).items.length;
    const response = await stack.call("POST", "/browsers", { headless: true, ...fields });
    const error = (await response.json()) as { code: string; details: { path: string }[] };
    expect([response.status, error.code]).toEqual([400, "bad_request"]);
    expect(error.details[0]?.path).toContain(path);
    expect((await stack.kube.list(browserKind, { namespace: stack.namespace })).items.length).toBe(before);
  });

  // HTTP-31, PROFILE-1, PROXY-1, BROWSER-7
  test.each<[string, object, string]>([
    ["profile", { profile: { name: "nobody" } }, "no profile with name nobody"],
    ["proxy.id", { proxy: { id: "none" } }, "no proxy with id none"],
    ["proxy_id", { proxy_id: "none" }, "no proxy with id none"],
    ["vaults[0].id", { vaults: [{ id: "none" }] }, "no vault with id none"],
  ])("a %s that names nothing is 404, and nothing is started", async (path, fields, message) => {
    const before = (await stack.kube.list(browserKind, { namespace: stack.namespace })).items.length;
    const response = await stack.call("POST", "/browsers", { headless: true, ...fields });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      code: "not_found",
      message: expect.stringContaining(`${path}: ${message}`),
      details: [{ path }],
    });
    expect((await stack.kube.list(browserKind, { namespace: stack.namespace })).items.length).toBe(before);
  });

  // LIMIT-10, HTTP-20, AUTH-4
  test("a project's limit counts on-demand browsers and pools, and an ended browser makes room", async () => {
    const { id } = (await kernel.projects.create({ name: newName() })) as { id: string };
    await stack.call("PATCH", `/org/projects/${id}/limits`, { max_concurrent_sessions: 2 });
    const ask = () => stack.call("POST", "/browsers", { headless: true }, { "x-kernel-project-id": id });
    const first = (await (await ask()).json()) as { session_id: string };
    expect((await ask()).status).toBe(200);
    const third = await ask();
    expect([third.status, third.headers.get("retry-after")]).toEqual([429, "5"]);
    expect(await third.json()).toMatchObject({
      code: "too_many_requests",
      message: expect.stringContaining("2 browsers"),
    });
    await stack.call("DELETE", `/browsers/${first.session_id}`, undefined, { "x-kernel-project-id": id });
    await eventually("there is room", async () => (await ask()).status === 200);
  });

  // BROWSER-7
  test('a proxy of the mode "direct" is none', async () => {
    const response = await stack.call("POST", "/browsers", { headless: true, proxy: { mode: "direct" } });
    const session = (await response.json()) as { session_id: string };
    expect(response.status).toBe(200);
    expect(session).not.toHaveProperty("proxy_id");
    await kernel.browsers.deleteByID(session.session_id);
  });

  // BROWSER-10
  test("a caller that hangs up before the browser is up leaves nothing behind", async () => {
    const before = new Set(
      (await stack.kube.list(browserKind, { namespace: stack.namespace })).items.map(({ metadata }) => metadata.name),
    );
    const fresh = async () =>
      (await stack.kube.list(browserKind, { namespace: stack.namespace })).items.filter(
        ({ metadata }) => !before.has(metadata.name),
      );
    const hangUp = new AbortController();
    const asked = fetch(`${stack.url}/browsers`, {
      method: "POST",
      headers: { authorization: `Bearer ${stack.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ headless: true, name: newName() }),
      signal: hangUp.signal,
    }).catch(() => "hung up");
    const [begun] = await eventually("it has begun", async () => {
      const found = await fresh();
      return found.length > 0 && found;
    });
    hangUp.abort();
    expect(await asked).toBe("hung up");
    await eventually("the object is gone", async () => (await fresh()).length === 0);
    await eventually("so is its pod", async () => (await podsOf(begun?.metadata.name ?? "")).length === 0);
  });
});

describe("by YAML", () => {
  // BROWSER-11
  test("a session begins without a call, has the name of the object, and ends with it", async () => {
    const name = `yaml-${newId()}`;
    await apply(name, { headless: true, tags: { from: "yaml" } });
    await whenPhase(name, "Active");
    const session = await kernel.browsers.retrieve(name);
    expect(session).toMatchObject({ session_id: name, name, tags: { from: "yaml" } });
    const cdp = await openCdp(session);
    expect(await cdp.version()).toContain("Chrome");
    await stack.kube.delete(browserKind, { namespace: stack.namespace, name });
    await cdp.closed;
    await eventually("the object is gone", async () => (await resourceOf(name)) === undefined);
    await eventually("no pod is left", async () => (await podsOf(name)).length === 0);
    await expect(kernel.browsers.retrieve(name)).rejects.toMatchObject(notFound);
  });

  // LIMIT-9
  test("tags of more than 8192 characters are refused by the API server, those of 8192 are not", async () => {
    const tags = (chars: number) =>
      Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`tag${n}`, "é".repeat(n === 0 ? chars : 1020)]));
    await expect(apply(`yaml-${newId()}`, { headless: true, tags: tags(1021) })).rejects.toThrow(
      "at most 8192 characters, all tags together",
    );
    const name = `yaml-${newId()}`;
    await apply(name, { headless: true, tags: tags(1020) });
    await whenPhase(name, "Active");
    expect((await kernel.browsers.retrieve(name)).tags).toEqual(tags(1020));
    await stack.kube.delete(browserKind, { namespace: stack.namespace, name });
  });

  test("a long name with dots works", async () => {
    // The name of its pod is cut off at the dot.
    const name = `yaml.${"a".repeat(44)}.${"b".repeat(100)}.${newId()}`;
    await apply(name, { headless: true });
    await whenPhase(name, "Active");
    const cdp = await openCdp(await kernel.browsers.retrieve(name));
    expect(await cdp.version()).toContain("Chrome");
    await kernel.browsers.deleteByID(name);
    await cdp.closed;
  });

  test("a read before the browser is up gets 200 or 503", async () => {
    const name = `yaml-${newId()}`;
    await apply(name, { headless: true });
    const early = await stack.call("GET", `/browsers/${name}`);
    expect([200, 503]).toContain(early.status);
    await early.body?.cancel();
    await whenPhase(name, "Active");
    await kernel.browsers.deleteByID(name);
    await whenPhase(name, "Ended");
  });

  // HTTP-13
  test("an object that is created again under the same name is a new session", async () => {
    const name = `yaml-${newId()}`;
    await apply(name, { headless: true });
    await whenPhase(name, "Active");
    const first = await kernel.browsers.retrieve(name);
    await stack.kube.delete(browserKind, { namespace: stack.namespace, name });
    await eventually("the first is gone", async () => (await resourceOf(name)) === undefined);
    await apply(name, { headless: true });
    await whenPhase(name, "Active");
    await expect(openCdp(first)).rejects.toThrow(/404|401|not_found|Unexpected server response/);
    const again = await openCdp(await kernel.browsers.retrieve(name));
    again.close();
    await stack.kube.delete(browserKind, { namespace: stack.namespace, name });
  });

  test.each<[string, object, RegExp]>([
    ["gpu with headless", { gpu: true, headless: true }, /gpu needs a display/],
    ["a time-out of a second", { timeoutSeconds: 1 }, /timeoutSeconds/],
    ["a name with a blank", { name: "a b" }, /spec.name/],
  ])("%s is refused by the API server", async (_, spec, message) => {
    await expect(apply(`yaml-${newId()}`, spec)).rejects.toThrow(message);
  });

  // BROWSER-5, VAULT-9
  test("vaults can't be changed, added or taken away", async () => {
    const name = `yaml-${newId()}`;
    await apply(name, { headless: true, vaults: [{ id: "a" }] });
    for (const vaults of [[], [{ id: "b" }], [{ id: "a" }, { id: "b" }], null])
      await expect(
        stack.kube.patch(browserKind, { namespace: stack.namespace, name }, { spec: { vaults } }),
      ).rejects.toThrow(/vaults are fixed/);
    await stack.kube.delete(browserKind, { namespace: stack.namespace, name });
  });
});

// BROWSER-8
test("when its pod is deleted by hand, the session ends with the reason, and no other pod starts", async () => {
  const { session_id } = await kernel.browsers.create({ headless: true });
  const [name = ""] = await podsOf(session_id);
  await stack.kube.delete(pods, { namespace: stack.namespace, name }, { gracePeriodSeconds: 2 });
  const { status } = await whenPhase(session_id, "Ended");
  expect(status?.endReason).toBe("pod_deleted");
  await sleep(1500);
  expect((await podsOf(session_id)).filter((pod) => pod !== name)).toEqual([]);
});
