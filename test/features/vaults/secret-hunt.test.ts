/**
 * Runs every flow of the vault at the lowest log level, and then searches everything that it left behind for its
 * secrets.
 */

import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { telemetryCategories } from "../../../src/core/model/settings/telemetry.ts";
import { credentialKind } from "../../../src/features/vaults/credentials/credential.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { type LocalStack, startLocalStack } from "../../support/local-stack.ts";
import { openViewer } from "../../support/viewer-socket.ts";
import { newCanary, newSeedCanary } from "./hunt/canary.ts";
import { type Hunt, isInSecret, startHunt } from "./hunt/hunt.ts";

const password = newCanary("password");
const username = newCanary("username");
const handedIn = newCanary("handed in");
const rotated = newCanary("rotated");
const own = newCanary("in a Secret of its writer's own");
const seed = newSeedCanary("TOTP seed");
const canaries = [password, username, handedIn, rotated, own, seed];

let folder: string;
let stack: LocalStack;
let site: Server;
let hunt: Hunt;

/** The Kubernetes API as an administrator sees it. */
const kubeReader = async (kubeconfig: string): Promise<(path: string) => Promise<string>> => {
  const { clusters, users } = parse(await readFile(kubeconfig, "utf8")) as {
    clusters: [{ cluster: { server: string } }];
    users: [{ user: Record<string, string> }];
  };
  const [{ user }] = users;
  const decoded = (name: string): Buffer | undefined => (user[name] ? Buffer.from(user[name], "base64") : undefined);
  const [cert, key] = [decoded("client-certificate-data"), decoded("client-key-data")];
  return (path) =>
    new Promise((resolve, reject) => {
      const asked = request(
        clusters[0].cluster.server + path,
        {
          rejectUnauthorized: false,
          ...(user.token && { headers: { authorization: `Bearer ${user.token}` } }),
          ...(cert && { cert }),
          ...(key && { key }),
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          response.once("end", () => resolve(text));
        },
      );
      asked.once("error", reject).end();
    });
};

const page = `<!doctype html><title>shop</title>
<form onsubmit="event.preventDefault()"><input id=user><input id=pw type=password><input id=otp><button>in</button></form>
<script>addEventListener("input", ({ target: { value } }) => {
  console.log("the page tells", value); document.title = value; fetch("/told?" + new URLSearchParams({ value }));
})</script>`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "browserpool-hunt-"));
  const keyFile = join(folder, "keys");
  await writeFile(keyFile, randomBytes(32).toString("base64"));
  stack = await startLocalStack({
    env: { BROWSERPOOL_LOG_LEVEL: "trace", BROWSERPOOL_SECRETS_KEY_FILE: keyFile, TMPDIR: folder },
  });
  site = createServer((_request, response) => response.setHeader("content-type", "text/html").end(page));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  site?.close();
  site?.closeAllConnections();
  await stack?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Answer = { status: number; body: Record<string, unknown> };

/** Sends a request; its whole answer is searched. */
const call = async (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Answer> => {
  const response = await stack.call(method, path, body, headers);
  const text = await response.text();
  hunt.note(`answers: ${method} ${path.split("/")[1]}`, `${JSON.stringify([...response.headers])}\n${text}`);
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
};

type Watched = { session_id: string; browser_live_view_url: string };

const telemetry = {
  enabled: true,
  browser: Object.fromEntries(telemetryCategories.map((name) => [name, { enabled: true }])),
  storage: { enabled: true },
};

/** Takes the session's events until they have told of a fill in each of these words, and of its end. */
const readEvents = async (session_id: string, words: string[]): Promise<void> => {
  const wanted = new Set([...words, "platform_fill_ended"]);
  for await (const event of await stack.kernel.browsers.telemetry.stream(session_id, { replay: "all" })) {
    const text = JSON.stringify(event);
    hunt.note("telemetry events", text);
    for (const each of wanted) if (text.includes(each)) wanted.delete(each);
    if (wanted.size === 0) return;
  }
};

/**
 * Takes all that a session tells by live view, telemetry and log until `end`, which proves that they told of the fills.
 */
const watchSession = async ({ session_id, browser_live_view_url }: Watched): Promise<{ end(): Promise<void> }> => {
  const viewer = await openViewer(browser_live_view_url);
  viewer.socket.on("message", (data, isBinary) => {
    if (!isBinary) hunt.note("live view", String(data));
  });
  return {
    async end() {
      await eventually("the view has the masked title", () =>
        viewer.told("tabs")?.tabs?.some(({ title }) => title === "[filled]"),
      );
      await viewer.close();
      await readEvents(session_id, ["the page tells [filled]", "/told?value=[filled]"]);
      for (const path of ["/var/log/agent.log", "/var/log/chromium.log"])
        for await (const line of await stack.kernel.browsers.logs.stream(session_id, { source: "path", path }))
          hunt.note("logs of the session", JSON.stringify(line));
    },
  };
};

// VAULT-10, VAULT-15, ITEM-33, FILL-33
test("no secret is anywhere but in its Secret and in the field that it was typed into", async () => {
  const shopUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  hunt = await startHunt(stack, {
    canaries,
    readKube: await kubeReader(stack.kubeconfig),
    mayHold: (path) => path.startsWith(join(stack.dataDir, "etcd")) || path.includes("/profile"),
    folders: [folder],
  });
  const login = { username: username.text, password: password.text };

  // Credentials: created, read, changed, refused, repeated.
  const made = { name: "shop", domain: "shop.example", values: login, totp_secret: seed.text };
  expect((await call("POST", "/credentials", made, { "idempotency-key": "one" })).status).toBe(201);
  await call("POST", "/credentials", made, { "idempotency-key": "one" });
  await call("POST", "/credentials", { ...made, values: { ...login, pin: 7 } });
  await call("POST", "/credentials", made);
  await call("POST", "/credentials", { ...made, name: "x", totp_secret: `${seed.text}!` });
  const broken = await fetch(`${stack.url}/credentials`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.api_key}`, "content-type": "application/json" },
    body: JSON.stringify(made).slice(0, -1),
  });
  hunt.note("answers: broken", await broken.text());
  await call("PATCH", "/credentials/shop", { values: { password: rotated.text, pin: rotated.text } });
  await call("GET", "/credentials/shop");
  await call("GET", "/credentials");

  // A vault with an item, a browser that has the vault attached, and fills that succeed and fail.
  const vault = (await call("POST", "/vaults", { name: "logins" })).body;
  const connection = (
    await call("POST", "/auth/connections", {
      domain: "shop.example",
      profile_name: "ann",
      credential: { name: "shop" },
    })
  ).body;
  const spec = { provider: "managed_auth", connection_id: connection.id };
  const item = "/vaults/logins/items/shop";
  expect((await call("PUT", item, { type: "credential", spec })).status).toBe(200);
  await call("GET", item);
  const session = (
    await call("POST", "/browsers", { headless: true, vaults: [{ id: vault.id }], start_url: shopUrl, telemetry })
  ).body as unknown as Watched & { cdp_ws_url: string };
  const other = (await call("POST", "/browsers", { headless: true })).body as { session_id: string };
  const watch = await watchSession(session);
  const browser = await connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  const target = await browser.waitForTarget((one) => one.url() === shopUrl);
  const tab = await target.page();
  await tab?.waitForSelector("#otp");
  const fields = [
    { field: "username", selector: "#user" },
    { field: "password", selector: "#pw" },
    { field: "totp", selector: "#otp" },
  ];
  const fill = (more: object = {}) =>
    call("POST", `${item}/operations`, { type: "fill", browser_id: session.session_id, fields, ...more });
  expect((await fill()).body).toMatchObject({ status: "completed" });
  const typed = await tab?.$$eval("input", (inputs) => inputs.map(({ value }) => value));
  expect(typed).toEqual([username.text, rotated.text, expect.stringMatching(/^\d{6}$/)]);
  for (const bad of [
    { fields: [{ field: "password", selector: "#nobody" }] },
    { fields: [{ field: "nothing", selector: "#pw" }] },
    { fields: [{ field: "password", selector: "button" }] },
    { page_url: "http://127.0.0.1:9/" },
    { timeout_ms: 1 },
    { browser_id: other.session_id },
  ])
    expect((await fill(bad)).status).toBeGreaterThanOrEqual(400);
  await call("GET", `${item}/events`);

  // A credential by YAML, with a user's own Secret, which stays as the user wrote it.
  const metadata = { name: "by-yaml", namespace: "default" };
  const data = { password: Buffer.from(own.text).toString("base64") };
  await stack.kube.create(secrets, { metadata, type: "Opaque", data });
  const yaml = { domain: "shop.example", secretRef: { name: "by-yaml" }, valueKeys: ["password"] };
  await stack.kube.create(credentialKind, { metadata, spec: yaml } as never);
  const second = { domain: "shop.example", profile_name: "bob", credential: { name: "by-yaml" } };
  const { id: connection_id } = (await call("POST", "/auth/connections", second)).body;
  const { status } = await call("PUT", "/vaults/logins/items/own", {
    type: "credential",
    spec: { ...spec, connection_id },
  });
  expect(status).toBe(200);
  const filled = await call("POST", "/vaults/logins/items/own/operations", {
    type: "fill",
    browser_id: session.session_id,
    fields: [{ field: "password", selector: "#pw" }],
  });
  expect(filled.body).toMatchObject({ status: "completed" });
  expect(await tab?.$$eval("input", (inputs) => inputs[1]?.value)).toBe(own.text);

  // A login that a person submits.
  const started = (await call("POST", `/auth/connections/${connection.id}/login`)).body as {
    hosted_url: string;
    handoff_code: string;
  };
  const form = started.hosted_url.replace(/#.*/, "");
  const post = async (url: string, body: Record<string, string>, cookie = ""): Promise<Response> => {
    const response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams(body),
      headers: { cookie },
      redirect: "manual",
    });
    hunt.note("answers: hosted login", `${JSON.stringify([...response.headers])}\n${await response.clone().text()}`);
    return response;
  };
  const exchanged = await post(form, { code: started.handoff_code });
  const cookie = exchanged.headers.get("set-cookie")?.split(";")[0] ?? "";
  const csrf = /name="csrf" value="([^"]+)"/.exec(
    await (await fetch(`${form}/form`, { headers: { cookie } })).text(),
  )?.[1];
  await post(`${form}/form`, { csrf: csrf ?? "", "value:password": handedIn.text.repeat(300) }, cookie);
  const handed = { "value:username": username.text, "value:password": handedIn.text, "value:pin": "1" };
  expect((await post(`${form}/form`, { csrf: csrf ?? "", ...handed }, cookie)).status).toBe(303);

  await browser.disconnect();
  await watch.end();
  const { places, finds } = await hunt.end();
  const forms = finds.map(({ canary, form: found, place }) => `${canary} as ${found} in ${place}`);
  expect(forms).toEqual([]);
  // Proves that places were searched, so that an empty hunt can't pass.
  const searched = [
    "Redis: MONITOR",
    "Redis: keys",
    "/metrics",
    "objects: credentials",
    "objects: events",
    "objects: pods",
    "logs of browserpool",
    "logs of kube-apiserver",
    "logs of pods",
    "redis",
    "process environ",
    "process cmdline",
    "answers: POST credentials",
    "answers: hosted login",
    "telemetry events",
    "live view",
    "logs of the session",
  ];
  const missed = searched.filter((place) => !((places.get(place) ?? places.get(`files: ${place}`) ?? 0) > 100));
  expect(missed).toEqual([]);

  // Encrypted at rest: the Secret itself holds no plain value.
  const { items } = await stack.kube.list(secrets, { namespace: "default" });
  expect(items.length).toBeGreaterThan(0);
  for (const canary of canaries.filter((one) => one !== own))
    expect([canary.name, isInSecret(items, canary)]).toEqual([canary.name, false]);

  // Proves that the hunt finds plain values: it finds the one in the user's own Secret.
  expect(isInSecret(items, own)).toBe(true);
}, 120_000);
