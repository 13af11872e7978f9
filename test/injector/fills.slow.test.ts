/**
 * A fill into a page of a real browser, with each of its calls to Kubernetes, Redis and the agent failing in turn: what
 * was typed, what the caller is told, and that the next fill finds nothing of it in its way.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type Browser, connect, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ServiceDeps } from "../../src/cmd/service-deps.ts";
import { listeningPort } from "../../src/platform/base/listening-port.ts";
import { eventually } from "../support/eventually.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { faultKinds, serviceFailures, type TriedFault, tryEveryFault } from "./injector.ts";
import { type OwnReplica, startOwnReplica } from "./own-replica.ts";

const values = { username: "ann", password: "geheim" };
const form = "<!doctype html><input id=user><input id=pw type=password>";

let stack: LocalProject;
let replica: OwnReplica;
let site: Server;
let browser: Browser;
let page: Page;
/** The item's path, and the browser into which it may be filled. */
let item: string;
let session: string;

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Answer = { status: number; text: string; body: any };

const ask = async (method: string, path: string, body?: object, parts?: ServiceDeps): Promise<Answer> => {
  const headers = { "content-type": "application/json" };
  const init = { method, ...(body && { headers, body: JSON.stringify(body) }) };
  const response = await replica.fetch(path, init, parts);
  const text = await response.text();
  return { status: response.status, text, body: text === "" ? undefined : JSON.parse(text) };
};
const made = async (method: string, path: string, body: object) => {
  const answer = await ask(method, path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
};

beforeAll(async () => {
  site = createServer((_, response) => response.setHeader("content-type", "text/html").end(form)).listen(
    0,
    "127.0.0.1",
  );
  await once(site, "listening");
  stack = await startProject();
  replica = await startOwnReplica(stack);
  const domain = "shop.example";
  await made("POST", "/credentials", { name: "login", domain, values });
  const asked = { domain, profile_name: "work", credential: { name: "login" } };
  const { id: connection_id } = await made("POST", "/auth/connections", asked);
  const { id: vault } = await made("POST", "/vaults", { name: "vault" });
  item = `/vaults/${vault}/items/login`;
  await made("PUT", item, { type: "credential", spec: { provider: "managed_auth", connection_id } });
  const start_url = `http://127.0.0.1:${listeningPort(site)}/`;
  const { session_id, cdp_ws_url } = await made("POST", "/browsers", {
    ...{ headless: true, vaults: [{ id: vault }], start_url },
  });
  session = session_id;
  browser = await connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
  const target = await browser.waitForTarget((one) => one.url() === start_url);
  page = (await target.page()) as Page;
  await page.waitForSelector("#pw");
});
afterAll(async () => {
  await browser?.disconnect();
  await replica?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
  site?.close();
  site?.closeAllConnections();
});

const fill = (parts?: ServiceDeps): Promise<Answer> =>
  ask(
    "POST",
    `${item}/operations`,
    {
      type: "fill",
      browser_id: session,
      timeout_ms: 5000,
      fields: [
        { field: "username", selector: "#user" },
        { field: "password", selector: "#pw" },
      ],
    },
    parts,
  );

const typed = (): Promise<string[]> =>
  page.$$eval("input", (inputs) => inputs.map((input) => (input as unknown as { value: string }).value));
const clear = (): Promise<void> =>
  page.$$eval("input", (inputs) => {
    for (const input of inputs) Object.assign(input, { value: "" });
  });
const outcomes = async (): Promise<string[]> =>
  (await ask("GET", `${item}/events?limit=100`)).body.map(({ outcome }: { outcome: string }) => outcome);

/** Codes of a fill that has typed nothing since a part did not answer. */
const refusals = ["unavailable", "browser_not_ready"];

const expectNothingTyped = async ({ status, body, text }: Answer): Promise<void> => {
  expect([status >= 400, refusals.includes(body.code)], text).toEqual([true, true]);
  expect(await typed()).toEqual(["", ""]);
};

/** The calls after which the vault and its item are known. */
const callsForItem = 2;

/** Each fill of a known item has one event, unless the events themselves were away. */
const expectEvent = async (before: readonly string[], outcome: string, { call, name }: TriedFault): Promise<void> => {
  if (name.startsWith("itemEvents.") || (call >= 0 && call < callsForItem)) return;
  const wanted = [...before, outcome];
  await eventually("the event is there", async () => (await outcomes()).length >= wanted.length);
  expect(await outcomes()).toEqual(wanted);
};

// FILL-1, FILL-43, ITEM-34
test("a fill types all or nothing, tells which, leaves an event, and hinders no further one, whatever fails", async () => {
  const calls = await tryEveryFault<string[], Answer, ServiceDeps>({
    parts: replica.whole,
    failures: serviceFailures,
    kinds: faultKinds,
    async prepare() {
      await clear();
      return outcomes();
    },
    work: (_, parts) => fill(parts),
    async check(before, ended, fault) {
      if ("error" in ended) throw ended.error;
      const { status, body, text } = ended.result;
      expect(text).not.toContain(values.password);
      if (status === 200) expect([body.status, await typed()]).toEqual(["completed", Object.values(values)]);
      else await expectNothingTyped(ended.result);
      if (fault.kind === "none") expect(status).toBe(200);
      await expectEvent(before, status === 200 ? body.status : body.code, fault);
      await clear();
      expect((await fill()).body.status).toBe("completed");
      expect(await typed()).toEqual(Object.values(values));
    },
  });
  expect(calls).toEqual(expect.arrayContaining(["kube.get", "setupClient.sendMasks", "itemEvents.append"]));
}, 120_000);
