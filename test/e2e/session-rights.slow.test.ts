/** What separates callers of one project: who sees and uses a session, and that nothing takes its place. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, browserKind } from "../../src/core/model/browsers/browser.ts";
import type { Permission } from "../../src/core/model/permission.ts";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { namespaces } from "../../src/platform/kube/resource-type.ts";
import { clientsOf } from "../support/clients.ts";
import { eventually } from "../support/eventually.ts";
import { collect, filledPool } from "../support/filled-pool.ts";
import { connectRawCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Answer = { status: number; body: any };
const callAs = async (key: string | undefined, method: string, path: string, body?: unknown): Promise<Answer> => {
  const response = await stack.call(method, path, body, key ? { authorization: `Bearer ${key}` } : {});
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text };
};
const keyWith = async (...permissions: Permission[]): Promise<string> =>
  (await callAs(stack.organization_key, "POST", "/org/api_keys", { name: `k-${newId()}`, permissions })).body.key;

const newProject = async () => {
  const organization = { url: stack.url, api_key: stack.organization_key };
  const { id } = await clientsOf(organization).kernel.projects.create({ name: `p-${newId()}` });
  return { id, kernel: clientsOf(organization, id).kernel };
};

// AUTH-20, AUTH-13
test("a session with vaults is used only by keys with vaults:fill; other keys of the project see that it is there, and may end it", async () => {
  const { body: vault } = await callAs(undefined, "POST", "/vaults", { name: `v-${newId()}` });
  const name = `n-${newId()}`;
  const { body: made } = await callAs(undefined, "POST", "/browsers", {
    headless: true,
    name,
    vaults: [{ id: vault.id }],
  });
  const worker = await keyWith("browsers:use", "pools:read");
  const path = `/browsers/${name}`;
  for (const [method, below, body] of [
    ["PATCH", "", {}],
    ["GET", "/logs/stream?source=supervisor&supervisor_process=agent"],
    ["GET", "/telemetry/events"],
    ["GET", "/telemetry/stream"],
    ["POST", "/replays", {}],
    ["GET", "/replays"],
    ["GET", "/replays/x"],
    ["POST", "/replays/x/stop"],
  ] as const) {
    const answer = await callAs(worker, method, path + below, body);
    expect([method, below, answer.status]).toEqual([method, below, 403]);
    expect(answer.body.message).toContain("vaults:fill");
  }
  const urls = ["cdp_ws_url", "webdriver_ws_url", "base_url", "browser_live_view_url"];
  const { body: read } = await callAs(worker, "GET", path);
  const { body: listed } = await callAs(worker, "GET", "/browsers");
  for (const seen of [read, ...listed]) for (const url of urls) expect(seen).not.toHaveProperty(url);
  const filler = await keyWith("browsers:use", "vaults:fill");
  expect(await callAs(filler, "PATCH", path, {})).toMatchObject({
    status: 200,
    body: { cdp_ws_url: made.cdp_ws_url },
  });
  expect((await callAs(worker, "DELETE", path)).status).toBe(204);
});

// AUTH-22
test("the sessions of a deleted key go on until another key of the project ends them", async () => {
  const { body: holder } = await callAs(stack.organization_key, "POST", "/org/api_keys", { name: `k-${newId()}` });
  const asked = { headless: true, timeout_seconds: 600 };
  const { body: made } = await callAs(holder.key, "POST", "/browsers", asked);
  expect((await callAs(stack.organization_key, "DELETE", `/org/api_keys/${holder.id}`)).status).toBe(204);
  expect((await callAs(holder.key, "GET", `/browsers/${made.session_id}`)).status).toBe(401);
  const cdp = await connectRawCdp(made.cdp_ws_url);
  const other = await keyWith("browsers:use", "pools:read");
  const { body: listed } = await callAs(other, "GET", "/browsers");
  expect(listed.map((one: { session_id: string }) => one.session_id)).toContain(made.session_id);
  expect((await callAs(other, "DELETE", `/browsers/${made.session_id}`)).status).toBe(204);
  await cdp.closed;
});

// LEASE-65
test("a Browser in YAML with the id of a session is found neither in its place nor after its end", async () => {
  const { id } = await filledPool(stack.kernel, { size: 1 });
  const held = await stack.kernel.browserPools.acquire(id, {});
  const metadata = { name: held.session_id, namespace: stack.namespace };
  await stack.kube.create(browserKind, {
    metadata,
    spec: { headless: true, timeoutSeconds: 600 },
  } as unknown as Browser);
  await eventually("the other browser is up", async () => {
    const found = await stack.kube.get(browserKind, metadata);
    return found?.status?.phase === "Active";
  });
  const read = await stack.kernel.browsers.retrieve(held.session_id);
  expect(read).toMatchObject({ cdp_ws_url: held.cdp_ws_url, pool: { id } });
  await stack.kernel.browsers.deleteByID(held.session_id);
  await expect(stack.kernel.browsers.retrieve(held.session_id)).rejects.toMatchObject({ status: 404 });
  await expect(stack.kernel.browsers.deleteByID(held.session_id)).rejects.toMatchObject({ status: 404 });
  const ended = await stack.kernel.browsers.retrieve(held.session_id, { include_deleted: true });
  expect(ended).toMatchObject({ pool: { id }, deleted_at: expect.any(String) });
});

// AUTH-21
test("the tokens in the URLs of a session expire when it ends at the latest", async () => {
  const { body } = await callAs(undefined, "POST", "/browsers", { headless: true, max_session_seconds: 90 });
  const endMs = Date.parse(body.created_at) + 90_000;
  for (const url of [body.cdp_ws_url, body.webdriver_ws_url, body.browser_live_view_url]) {
    const [, claims = ""] = (new URL(url).searchParams.get("jwt") ?? "").split(".");
    const { exp } = JSON.parse(Buffer.from(claims, "base64url").toString());
    expect(exp * 1000).toBeLessThanOrEqual(endMs);
    expect(exp * 1000).toBeGreaterThan(endMs - 1001);
  }
  await callAs(undefined, "DELETE", `/browsers/${body.session_id}`);
});

// PROJECT-12
test("the sessions of a project that is archived end with it, and who waits there gets no browser", async () => {
  const { id: project, kernel } = await newProject();
  const { id: pool } = await filledPool(kernel);
  const { cdp_ws_url } = await kernel.browserPools.acquire(pool, {});
  const cdp = await connectRawCdp(cdp_ws_url);
  const waiting = kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
  waiting.catch(() => undefined);
  await eventually("a caller waits", async () => {
    const found = await stack.kube.get(browserPoolKind, { namespace: project, name: pool });
    return found?.status?.waiting === 1;
  });
  const path = `/org/projects/${project}`;
  expect((await callAs(stack.organization_key, "PATCH", path, { status: "archived" })).status).toBe(200);
  await cdp.closed;
  await expect(connectRawCdp(cdp_ws_url)).rejects.toThrow();
  await expect(waiting).rejects.toMatchObject({ status: 404, error: { code: "project_not_found" } });
  await callAs(stack.organization_key, "PATCH", path, { status: "active" });
});

// PROJECT-13
test("the sessions of a project that its label archives end, too", async () => {
  const { id, kernel } = await newProject();
  const { session_id, cdp_ws_url } = await kernel.browsers.create({ headless: true, timeout_seconds: 600 });
  const cdp = await connectRawCdp(cdp_ws_url);
  const status = (value: string) =>
    stack.kube.patch(namespaces, { name: id }, { metadata: { labels: { "browserpool.dev/project-status": value } } });
  await status("archived");
  await cdp.closed;
  await status("active");
  const ended = await eventually("the project is active again", () =>
    kernel.browsers.retrieve(session_id, { include_deleted: true }).catch(() => undefined),
  );
  expect(ended.deleted_at).toEqual(expect.any(String));
  await expect(connectRawCdp(cdp_ws_url)).rejects.toThrow();
});

// PROJECT-13
test("a namespace that is being deleted ends its sessions, and their callers see that", async () => {
  const { id, kernel } = await newProject();
  const { id: pool } = await filledPool(kernel);
  const held = await kernel.browserPools.acquire(pool, {});
  const { session_id } = await kernel.browsers.create({ headless: true, timeout_seconds: 600 });
  const cdp = await connectRawCdp(held.cdp_ws_url);
  await stack.kube.delete(namespaces, { name: id });
  await cdp.closed;
  for (const session of [held.session_id, session_id]) {
    const has = { status: 404, message: expect.stringContaining(`browser ${session} has ended (deleted)`) };
    await eventually(`${session} has ended`, async () => {
      const found = await kernel.browsers.retrieve(session, { include_deleted: true });
      return found.deleted_at !== undefined;
    });
    await expect(kernel.browsers.retrieve(session)).rejects.toMatchObject(has);
    await expect(kernel.browsers.deleteByID(session)).rejects.toMatchObject(has);
  }
  const release = kernel.browserPools.release(pool, { session_id: held.session_id });
  await expect(release).rejects.toMatchObject({ status: 404, error: { code: "not_found" } });
  const listed = await collect(kernel.browsers.list({ status: "all" }));
  expect(listed.map((one) => one.session_id).sort()).toEqual([held.session_id, session_id].sort());
  const refused = { status: 404, error: { code: "project_not_found" } };
  await expect(kernel.browsers.create({ headless: true })).rejects.toMatchObject(refused);
  await expect(kernel.browserPools.acquire(pool, {})).rejects.toMatchObject(refused);
  // As the controller of namespaces, which this installation may lack.
  await stack.kube.delete(browserPoolKind, { namespace: id, name: pool });
  await stack.kube.delete(browserKind, { namespace: id, name: session_id });
});
