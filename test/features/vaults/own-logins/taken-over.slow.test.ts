/** Logins whose replica of the API is killed: another one goes on with them, each replica in its own process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserKind } from "../../../../src/core/model/browsers/browser.ts";
import { totpCode } from "../../../../src/features/vaults/logins/rules/totp.ts";
import { type ApiReplica, type Cluster, startCluster } from "../../../support/cluster.ts";
import { eventually } from "../../../support/eventually.ts";
import { type LoginPages, passwordOf, startLoginPages, totpSecret } from "./login-pages.ts";
import { loginsAt, type OwnLoginParts, type TestLogin } from "./own-login-parts.ts";

let blobs: string;
let cluster: Cluster;
let redis: Redis;
let site: LoginPages;
let logins: Pick<OwnLoginParts, "call" | "begin">;
/** The replica that gets all requests, so that it drives what begins; and one that takes over. */
let driving: ApiReplica;
let spare: ApiReplica;
let started = 0;
const startApi = (): Promise<ApiReplica> => {
  started += 1;
  return cluster.startApi(`api-${started}`);
};

beforeAll(async () => {
  blobs = await mkdtemp(join(tmpdir(), "bp-"));
  cluster = await startCluster({ env: { BROWSERPOOL_BLOBS: pathToFileURL(blobs).href } });
  redis = new Redis(cluster.redisUrl);
  site = await startLoginPages();
  cluster.startOperator("operator");
  driving = await startApi();
  spare = await startApi();
  logins = loginsAt((method, path, body) => driving.call(method, path, body), site);
});
afterAll(async () => {
  redis?.disconnect();
  await site?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
  if (blobs) await rm(blobs, { recursive: true, force: true });
});

const success = { flow_status: "SUCCESS", status: "AUTHENTICATED" };
const posts = (kind: string) => site.sent.filter((one) => one.kind === kind);

/** Kills the replica that drives what has begun. */
const killDriver = async (): Promise<void> => {
  driving.kill("SIGKILL");
  await driving.exited;
  driving = spare;
  spare = await startApi();
};

/** The last login as Redis keeps it. */
const kept = async (login: TestLogin): Promise<{ driver: string; [name: string]: unknown }> => {
  for (const key of await redis.keys("bp:*:login_flow")) {
    const text = await redis.hget(key, "flow");
    if (text?.includes(`"connectionId":"${login.id}"`)) return JSON.parse(text);
  }
  throw new Error("no login");
};
const takenOver = async (login: TestLogin, before: string): Promise<void> =>
  void (await eventually("another replica drives it", async () => (await kept(login)).driver !== before));

/** The browsers of a connection that hold something. */
const liveBrowsers = async ({ id }: TestLogin): Promise<string[]> => {
  const { items } = await cluster.kube.list(browserKind, { namespace: cluster.namespace });
  return items
    .filter(({ spec, status }) => spec.tags?.["browserpool.dev/login"] === id && status?.phase !== "Ended")
    .map(({ metadata }) => metadata.name);
};
const noBrowserLeft = (login: TestLogin) =>
  eventually("no browser is left", async () => (await liveBrowsers(login)).length === 0);

// LOGIN-21
test("while the site asks for a code: it is asked for once, by the same interaction, and what was typed is not typed again", async () => {
  const login = await logins.begin("otp-one", { isStored: false });
  const first = await login.settled();
  await login.submit({
    interaction_id: first.interaction_id,
    field_values: { username: "ann", password: passwordOf("otp-one") },
  });
  const asked = await login.settled(first.interaction_id);
  expect(asked.fields).toMatchObject([{ id: "code", reason: "missing" }]);
  const { driver } = await kept(login);
  await killDriver();
  await takenOver(login, driver);
  const after = await login.settled();
  expect(after).toMatchObject({
    flow_step: "AWAITING_INPUT",
    interaction_id: asked.interaction_id,
    browser_session_id: asked.browser_session_id,
    fields: [{ id: "code", reason: "missing" }],
  });
  const code = totpCode(totpSecret, Date.now())?.code ?? "";
  await login.submit({ interaction_id: after.interaction_id, field_values: { code } });
  expect(await login.over()).toMatchObject(success);
  expect(posts("otp-one").map(({ path }) => path)).toEqual(["in", "code"]);
  await noBrowserLeft(login);
});

// LOGIN-21
test("while a person solves a captcha: what is typed stays, nobody is asked for it, and the form is sent once", async () => {
  const login = await logins.begin("captcha");
  const { browser_session_id } = await login.settled();
  const { driver } = await kept(login);
  await killDriver();
  await takenOver(login, driver);
  const untilMs = performance.now() + 12_000;
  while (performance.now() < untilMs)
    expect(await login.state()).toMatchObject({ flow_step: "AWAITING_EXTERNAL_ACTION", browser_session_id });
  expect(posts("captcha")).toEqual([]);
  await login.cancel();
  await noBrowserLeft(login);
});

// LOGIN-21
test("while the site thinks: the form is not sent again", async () => {
  const release = site.hold("one-page");
  const login = await logins.begin("one-page");
  await eventually("the form was sent", async () => posts("one-page").length === 1);
  const { driver } = await kept(login);
  await killDriver();
  await takenOver(login, driver);
  // Long enough for a replica that knows nothing to send it again.
  await sleep(5000);
  release();
  expect(await login.over()).toMatchObject(success);
  expect(posts("one-page")).toHaveLength(1);
  await noBrowserLeft(login);
});

// LOGIN-21
test("while a refusal is on the page: the same password is not typed again", async () => {
  const release = site.hold("wrong");
  const login = await logins.begin("wrong", { values: { password: "old" } });
  await eventually("the form was sent", async () => posts("wrong").length === 1);
  const { driver } = await kept(login);
  await killDriver();
  release();
  await takenOver(login, driver);
  expect(await login.settled()).toMatchObject({
    flow_step: "AWAITING_INPUT",
    fields: [{ ref: "username" }, { ref: "password", reason: "rejected" }],
  });
  expect(posts("wrong")).toHaveLength(1);
  await login.cancel();
  await noBrowserLeft(login);
});

// LOGIN-21
test("while its browser starts: another one is started, and none is left", async () => {
  const login = await logins.begin("two-steps");
  await eventually("there is a browser", async () => (await liveBrowsers(login)).length > 0);
  const { driver } = await kept(login);
  await killDriver();
  await takenOver(login, driver);
  expect(await login.over()).toMatchObject(success);
  expect(await liveBrowsers(login)).toEqual([]);
  expect(posts("two-steps").map(({ path }) => path)).toEqual(["user", "in"]);
});

// LOGIN-21
test("while the profile is saved: the login has succeeded", async () => {
  const login = await logins.begin("bare");
  await eventually("the site has let in", async () => site.entered("bare") > 0 && (await kept(login)).isIn === true);
  const { driver } = await kept(login);
  await killDriver();
  await takenOver(login, driver);
  expect(await login.over()).toMatchObject({ ...success, post_login_url: expect.stringMatching(/bare\/home$/) });
  await noBrowserLeft(login);
});

// LOGIN-17, LOGIN-21
test("with its browser: the login fails by name", async () => {
  const login = await logins.begin("push");
  const { browser_session_id: session } = await login.settled();
  await killDriver();
  await logins.call("DELETE", `/browsers/${session}`);
  expect(await login.over()).toMatchObject({ flow_status: "FAILED", error_code: "browser_ended" });
  await noBrowserLeft(login);
});

// LOGIN-21
test("a replica that was frozen meanwhile types nothing any more", async () => {
  const login = await logins.begin("choice");
  const asked = await login.settled();
  const frozen = driving;
  const { driver } = await kept(login);
  frozen.kill("SIGSTOP");
  driving = spare;
  await takenOver(login, driver);
  await login.submit({ interaction_id: asked.interaction_id, selected_choice_id: "choice-1" });
  const code = await login.settled(asked.interaction_id);
  frozen.kill("SIGCONT");
  await login.submit({ interaction_id: code.interaction_id, field_values: { code: "424242" } });
  expect(await login.over()).toMatchObject(success);
  expect(posts("choice").map(({ path }) => path)).toEqual(["in", "choose", "code"]);
  await noBrowserLeft(login);
});
