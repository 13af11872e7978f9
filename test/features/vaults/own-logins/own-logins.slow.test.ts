/** What becomes of logins that the service does itself: with a person, in trouble, and over time. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { connect } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserKind } from "../../../../src/core/model/browsers/browser.ts";
import { authConnectionKind } from "../../../../src/features/vaults/connections/auth-connection.ts";
import { clientsOf } from "../../../support/clients.ts";
import { eventually } from "../../../support/eventually.ts";
import { passwordOf } from "./login-pages.ts";
import { type OwnLoginParts, startOwnLoginParts, type TestLogin } from "./own-login-parts.ts";

let parts: OwnLoginParts;
let redis: Redis;
beforeAll(async () => {
  parts = await startOwnLoginParts();
  redis = new Redis(parts.stack.redis_url);
});
afterAll(async () => {
  redis?.disconnect();
  await parts?.[Symbol.asyncDispose]();
});

const success = { flow_status: "SUCCESS", status: "AUTHENTICATED" };

/** Whether a browser with the profile is let in without a login. */
const isLoggedIn = async (kind: string, { profile }: TestLogin): Promise<boolean> => {
  const before = parts.site.entered(kind);
  const { session_id, cdp_ws_url } = await parts.call("POST", "/browsers", {
    headless: true,
    profile: { name: profile },
  });
  const browser = await connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
  const page = await browser.newPage();
  await page.goto(parts.site.loginUrl(kind).replace("/login", "/home"));
  await browser.disconnect();
  await parts.call("DELETE", `/browsers/${session_id}`);
  return parts.site.entered(kind) > before;
};

/** Has the checks of a connection's login be due now. */
const checkNow = async ({ id }: TestLogin): Promise<void> => {
  await eventually("the check is planned", async () => {
    for (const key of await redis.keys("bp:*:login_checks"))
      for (const member of await redis.zrange(key, 0, "-1"))
        if (member.includes(`/${id}/`)) return (await redis.zadd(key, "XX", 1, member)) === 0;
    return false;
  });
};

// LOGIN-5, LOGIN-10
test("without a stored login, a caller gives the values, which are stored after the success", async () => {
  const login = await parts.begin("given", { isStored: false });
  const asked = await login.settled();
  expect(asked).toMatchObject({
    flow_type: "LOGIN",
    flow_step: "AWAITING_INPUT",
    can_reauth: false,
    can_reauth_reason: "no_credential",
    fields: [
      { id: "username", type: "identifier", reason: "missing", required: true },
      { id: "password", type: "password", reason: "missing", required: true },
    ],
    discovered_fields: [{ name: "username" }, { name: "password", type: "password" }],
  });
  const values = { username: "ann", password: "wrong-one" };
  expect(await login.submit({ interaction_id: asked.interaction_id, field_values: values })).toEqual({
    accepted: true,
  });
  const again = await login.settled(asked.interaction_id);
  expect(again.fields).toMatchObject([
    { id: "username", reason: "rejected" },
    { id: "password", reason: "rejected" },
  ]);
  expect(again.website_error).toBe("the site did not take what was typed");
  await login.submit({ fields: { password: passwordOf("given") } });
  expect(await login.over()).toMatchObject(success);
  const { credential, can_reauth } = await eventually("the login is stored", async () => {
    const state = await login.state();
    return state.credential && state;
  });
  expect(can_reauth).toBe(true);
  const stored = await parts.call("GET", `/credentials/${credential.name}`);
  expect(stored.value_keys).toEqual(["password", "username"]);
  expect(await isLoggedIn("given", login)).toBe(true);
});

// LOGIN-6
test("a second factor is chosen, and its code given", async () => {
  const login = await parts.begin("choice");
  const asked = await login.settled();
  const wrong = { interaction_id: asked.interaction_id, selected_choice_id: "choice-9" };
  await expect(login.submit(wrong)).rejects.toThrow(/400 .*selected_choice_id/);
  await login.submit({ mfa_option_id: "sms" });
  const code = await login.settled(asked.interaction_id);
  expect(code.fields).toMatchObject([{ id: "code", type: "code", reason: "missing" }]);
  await expect(login.submit({ interaction_id: "old", field_values: { code: "1" } })).rejects.toThrow(/409/);
  await login.submit({ interaction_id: code.interaction_id, field_values: { code: "424242" } });
  expect(await login.over()).toMatchObject(success);
  // A code is of no use later.
  const stored = await parts.call("GET", `/credentials/${login.credential}`);
  expect(stored.value_keys).toEqual(["password", "username"]);
});

// LOGIN-7
test("what only a person can do is done in the live view or elsewhere, and the login goes on", async () => {
  const push = await parts.begin("push");
  expect(await push.settled()).toMatchObject({ external_action_message: expect.stringContaining("other device") });
  parts.site.approve("push");
  const captcha = await parts.begin("captcha");
  const { browser_session_id: session } = await captcha.settled();
  const { cdp_ws_url } = await parts.call("GET", `/browsers/${session}`);
  const browser = await connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
  const page = (await browser.pages()).find((one) => one.url().includes("captcha"));
  expect(
    await page?.$$eval("input", (inputs) => inputs.map((input) => (input as unknown as { value: string }).value)),
  ).toEqual(["ann", passwordOf("captcha")]);
  await page?.click(".g-recaptcha");
  await page?.click("button");
  await browser.disconnect();
  expect(await push.over()).toMatchObject(success);
  expect(await captcha.over()).toMatchObject(success);
});

// LOGIN-11
test("a login that fails leaves the profile as it was", async () => {
  const login = await parts.begin("locks");
  expect(await login.over()).toMatchObject({
    flow_status: "FAILED",
    error_code: "account_locked",
    status: "NEEDS_AUTH",
  });
  const [{ browser_session_id: name }] = await login.timeline();
  const browser = await eventually("the end of its browser is settled", async () => {
    const found = await parts.stack.kube.get(browserKind, { namespace: parts.stack.namespace, name });
    return found?.status?.phase === "Ended" && found;
  });
  const saved = browser.status?.conditions.find(({ type }) => type === "ProfileSaved");
  expect(saved).toMatchObject({ status: "False", reason: "Discarded" });
  expect((await parts.stack.call("GET", `/profiles/${login.profile}/download`)).status).toBe(404);
});

// LOGIN-12
test("a login that was refused three times is not typed again until the credential changes", async () => {
  const login = await parts.begin("stubborn", { values: { password: "old" }, begins: false });
  const posts = (): number => parts.site.sent.filter(({ kind }) => kind === "stubborn").length;
  for (let tries = 1; tries <= 4; tries += 1) {
    await login.login();
    const { browser_session_id: session } = await login.settled();
    expect(posts()).toBe(Math.min(tries, 3));
    await parts.call("DELETE", `/browsers/${session}`);
    expect(await login.over()).toMatchObject({ flow_status: "FAILED", error_code: "browser_ended" });
  }
  await parts.call("PATCH", `/credentials/${login.credential}`, { values: { password: passwordOf("stubborn") } });
  await login.login();
  expect(await login.over()).toMatchObject(success);
});

// LOGIN-13
test("two logins of one connection are one", async () => {
  const login = await parts.begin("wrong", { values: { password: "old" } });
  const [a, b] = await Promise.all([login.login(), login.login()]);
  expect(a.flow_expires_at).toBe(b.flow_expires_at);
  await login.settled();
  expect(await login.timeline()).toHaveLength(1);
  await login.cancel();
});

// LOGIN-14
test("a reader follows a login to its end", async () => {
  const login = await parts.begin("two-steps", { begins: false });
  await expect(parts.stack.call("GET", `${login.path}/events`).then(({ status }) => status)).resolves.toBe(409);
  await login.login();
  const events: { flow_step: string; flow_status: string }[] = [];
  for await (const event of await parts.stack.kernel.auth.connections.follow(login.id)) events.push(event as never);
  const steps = events.map(({ flow_step }) => flow_step);
  expect([steps[0], steps.at(-1), events.at(-1)?.flow_status]).toEqual(["DISCOVERING", "COMPLETED", "SUCCESS"]);
  expect(steps).toContain("SUBMITTING");
});

// LOGIN-15, LOGIN-16
test("a session that the site has ended is found and renewed without a person", async () => {
  const login = await parts.begin("renewed", { connection: { health_checks: true, health_check_interval: 300 } });
  expect(await login.over()).toMatchObject({ ...success, post_login_url: expect.stringMatching(/\/renewed\/home$/) });
  const checks = async () => (await parts.call("GET", `${login.path}/timeline?type=health_check`)) as unknown[];
  await checkNow(login);
  await eventually("a check", async () => (await checks()).length === 1);
  expect(await checks()).toMatchObject([{ status: "AUTHENTICATED", previous_status: "AUTHENTICATED" }]);
  parts.site.endSessions("renewed");
  await eventually("the check before is over", async () => (await redis.keys("bp:*:login_check")).length === 0);
  await checkNow(login);
  await eventually(
    "the login is renewed",
    async () => (await login.timeline())[0]?.type === "reauth" && (await login.timeline())[0]?.status === "SUCCESS",
  );
  expect(
    (await login.timeline()).map(({ type, status }: { type: string; status: string }) => `${type} ${status}`),
  ).toEqual(["reauth SUCCESS", "health_check NEEDS_AUTH", "health_check AUTHENTICATED", "login SUCCESS"]);
  expect(await login.state()).toMatchObject({ status: "AUTHENTICATED", last_auth_check_at: expect.any(String) });
  expect(await isLoggedIn("renewed", login)).toBe(true);
});

// LOGIN-16
test("a login that needs a person is not renewed, and stays so", async () => {
  const login = await parts.begin("choice", { connection: { health_checks: true }, begins: false });
  await checkNow(login);
  await eventually("it was tried", async () => (await login.timeline())[0]?.status === "FAILED");
  expect((await login.timeline())[0]).toMatchObject({ type: "reauth", error_code: "input_required" });
  expect(await login.state()).toMatchObject({
    status: "NEEDS_AUTH",
    can_reauth: false,
    can_reauth_reason: "requires_customer_input",
  });
});

// LOGIN-17
test("a connection that is deleted ends its login and its browser", async () => {
  const login = await parts.begin("wrong", { values: { password: "old" } });
  await login.settled();
  await login.cancel();
});

// LOGIN-18
test("others get 404 for each operation", async () => {
  const login = await parts.begin("one-page", { begins: false });
  const { url, organization_key: api_key } = parts.stack;
  const other = await clientsOf({ url, api_key }).kernel.projects.create({ name: `other ${Date.now()}` });
  const stranger = clientsOf({ url, api_key }, other.id);
  for (const [method, path, body] of [
    ["POST", "submit", { fields: { a: "b" } }],
    ["GET", "events", undefined],
    ["GET", "timeline", undefined],
    ["POST", "login", {}],
  ] as const) {
    expect((await stranger.call(method, `${login.path}/${path}`, body)).status).toBe(404);
    expect((await parts.stack.call(method, `/auth/connections/nobody/${path}`, body)).status).toBe(404);
  }
  for (const [body, status] of [
    [{}, 409],
    [{ fields: { a: "b" } }, 409],
    [{ fields: { a: "x".repeat(5000) } }, 400],
    [{ fields: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`f${i}`, "x"])) }, 400],
    [{ nothing: 1 }, 400],
    [{ sso_provider: "google" }, 409],
    [{ sign_in_option_id: "a" }, 400],
  ] as const)
    expect([body, (await parts.stack.call("POST", `${login.path}/submit`, body)).status]).toEqual([body, status]);
});

// LOGIN-19
test("no value is in any answer, event, log line, audit line, object or Redis key", async () => {
  const { kube, namespace, dataDir } = parts.stack;
  const told: string[] = [];
  for (const connection of await parts.call("GET", "/auth/connections?limit=100")) {
    told.push(JSON.stringify(await parts.call("GET", `/auth/connections/${connection.id}`)));
    told.push(JSON.stringify(await parts.call("GET", `/auth/connections/${connection.id}/timeline?limit=100`)));
  }
  told.push(JSON.stringify((await kube.list(authConnectionKind, { namespace })).items));
  for (const key of await redis.keys("bp:*login*")) {
    const type = await redis.type(key);
    if (type === "hash") told.push(JSON.stringify(await redis.hgetall(key)));
  }
  for (const file of await readdir(dataDir, { recursive: true }))
    if (/log|audit/.test(file)) told.push(await readFile(join(dataDir, file), "utf8").catch(() => ""));
  const all = told.join("\n");
  expect(all).toContain("submitAuthConnection");
  for (const secret of [passwordOf(""), "wrong-one", "424242"]) expect(all).not.toContain(secret);
});
