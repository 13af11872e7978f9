/** Logins that the service does itself, at pages of different make, with a real browser. */
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../../src/core/objects/new-id.ts";
import { type LocalProject, startProject } from "../../../support/stack.ts";
import { type LoginPages, passwordOf, startLoginPages, totpSecret } from "./login-pages.ts";

let stack: LocalProject;
let site: LoginPages;
beforeAll(async () => {
  stack = await startProject();
  site = await startLoginPages();
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Body = any;
const call = async (method: string, path: string, body?: unknown): Promise<Body> => {
  const response = await stack.call(method, path, body);
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
};

type Login = { id: string; path: string; state(): Promise<Body>; submit(body: object): Promise<Body> };

/** A connection with a stored login for a kind of page, whose login has begun. */
const begin = async (kind: string, more: { values?: object; connection?: object } = {}): Promise<Login> => {
  const name = `c-${newId()}`;
  const values = { username: "ann", password: passwordOf(kind), ...more.values };
  await call("POST", "/credentials", {
    name,
    domain: "127.0.0.1",
    values,
    ...(kind.startsWith("otp") && { totp_secret: totpSecret }),
  });
  const { id } = await call("POST", "/auth/connections", {
    domain: "127.0.0.1",
    profile_name: `p-${newId()}`,
    credential: { name },
    login_url: site.loginUrl(kind),
    ...more.connection,
  });
  const path = `/auth/connections/${id}`;
  await call("POST", `${path}/login`, {});
  return { id, path, state: () => call("GET", path), submit: (body) => call("POST", `${path}/submit`, body) };
};

const waiting = ["DISCOVERING", "SUBMITTING"];
/** The state of a login that waits for something, or is over. */
const settled = async ({ state }: Login, before = ""): Promise<Body> => {
  const untilMs = performance.now() + 90_000;
  for (;;) {
    const now = await state();
    if (!waiting.includes(now.flow_step) && now.interaction_id !== (before || undefined) ) return now;
    if (performance.now() > untilMs) throw new Error(`still ${JSON.stringify(now)}`);
    await sleep(300);
  }
};
const over = async ({ state }: Login): Promise<Body> => {
  const untilMs = performance.now() + 90_000;
  for (;;) {
    const now = await state();
    if (now.flow_status !== "IN_PROGRESS") return now;
    if (performance.now() > untilMs) throw new Error(`still ${JSON.stringify(now)}`);
    await sleep(300);
  }
};

const success = { flow_status: "SUCCESS", flow_step: "COMPLETED", status: "AUTHENTICATED" };

// LOGIN-1, LOGIN-3, LOGIN-4
test.concurrent.each<[string, Parameters<typeof begin>[1]?]>([
  ["one-page"],
  ["two-steps"],
  ["shadow"],
  ["frame"],
  ["otp-one"],
  ["otp-boxes"],
  ["masked", { values: { username: "5551234567" } }],
  ["remember"],
  ["slow"],
  ["bare"],
  ["labels"],
  ["untyped"],
  ["by-script"],
  ["inside"],
  ["sso-allowed", { connection: { allowed_domains: ["127.0.0.2"] } }],
])("%s: the stored login lets in", async (kind, more) => {
  const login = await begin(kind, more);
  expect(await over(login)).toMatchObject(success);
});
