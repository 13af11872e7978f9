/** Logins that the service does itself, at pages of different make, with a real browser. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OwnLoginParts, startOwnLoginParts } from "./own-login-parts.ts";

let parts: OwnLoginParts;
beforeAll(async () => {
  parts = await startOwnLoginParts();
});
afterAll(() => parts?.[Symbol.asyncDispose]());

const success = { flow_status: "SUCCESS", flow_step: "COMPLETED", status: "AUTHENTICATED" };
const failure = (code: string) => ({
  flow_status: "FAILED",
  flow_step: "COMPLETED",
  error_code: code,
  status: "NEEDS_AUTH",
});
const refused = {
  flow_step: "AWAITING_INPUT",
  fields: [
    { ref: "username", required: false },
    { ref: "password", reason: "rejected" },
  ],
};
const toAllowed = { connection: { allowed_domains: ["127.0.0.2"] } };
const byProvider = { ...toAllowed, ssoProvider: "acme-id" };

// LOGIN-1, LOGIN-3, LOGIN-4, LOGIN-7, LOGIN-8, LOGIN-9, LOGIN-22, LOGIN-23
test.concurrent.each<[kind: string, end: object, more?: Parameters<OwnLoginParts["begin"]>[1]]>([
  ["one-page", success],
  ["two-steps", success],
  ["shadow", success],
  ["frame", success],
  ["otp-one", success],
  ["otp-boxes", success],
  ["masked", success, { values: { username: "5551234567" } }],
  ["remember", success],
  ["slow", success],
  ["bare", success],
  ["labels", success],
  ["untyped", success],
  ["by-script", success],
  ["inside", success],
  ["sso-allowed", success, toAllowed],
  ["sso-refused", failure("origin_not_allowed")],
  ["idp-only", { ...success, sso_provider: "acme-id" }, byProvider],
  ["idp-popup", { ...success, sso_provider: "acme-id" }, byProvider],
  ["idp-beside", success, toAllowed],
  ["idp-consent", { flow_step: "AWAITING_EXTERNAL_ACTION", sso_provider: "acme-id" }, byProvider],
  ["idp-foreign", failure("origin_not_allowed"), { ssoProvider: "acme-id" }],
  ["own-form", { flow_step: "AWAITING_INPUT", fields: [{ ref: "password", reason: "missing" }] }, byProvider],
  ["wrong", refused, { values: { password: "old" } }],
  ["locks", failure("account_locked")],
  ["captcha", { flow_step: "AWAITING_EXTERNAL_ACTION", live_view_url: expect.stringContaining("/live?jwt=") }],
  ["push", { flow_step: "AWAITING_EXTERNAL_ACTION" }],
  ["choice", { flow_step: "AWAITING_INPUT", choices: [{ mfa_type: "sms" }, { mfa_type: "email" }] }],
])("%s", async (kind, end, more) => {
  const login = await parts.begin(kind, more);
  const state = await login.settled();
  expect(state).toMatchObject(end);
  await login.cancel();
});

// LOGIN-3, LOGIN-8
test("what was typed is what was stored, and it went nowhere else", () => {
  const posts = (kind: string) => parts.site.sent.filter((one) => one.kind === kind);
  expect(posts("inside")).toEqual([]);
  expect(posts("sso-refused")).toEqual([]);
  expect(posts("masked").map(({ fields }) => fields.username)).toEqual(["(555) 123-4567"]);
  expect(posts("remember").map(({ fields }) => fields.remember)).toEqual(["on"]);
  expect(posts("wrong")).toHaveLength(1);
  expect(posts("locks")).toHaveLength(1);
  const hosts = (kind: string) => posts(kind).map(({ host }) => host.split(":")[0]);
  expect(hosts("idp-only")).toEqual(["127.0.0.2"]);
  expect(hosts("idp-popup")).toEqual(["127.0.0.2"]);
  expect(hosts("idp-beside")).toEqual(["127.0.0.1"]);
  expect(posts("own-form")).toEqual([]);
  // Consent is not given by the service.
  expect(hosts("idp-consent")).toEqual(["127.0.0.2"]);
  expect(posts("idp-foreign")).toEqual([]);
  expect(posts("sso-allowed").map(({ host }) => host.split(":")[0])).toEqual(["127.0.0.2"]);
});
