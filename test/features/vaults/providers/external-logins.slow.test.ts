/** Logins that the service does with values of a credential provider: a real browser, a real API server, a store in trouble. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../../src/core/objects/new-id.ts";
import { passwordOf, totpSecret } from "../own-logins/login-pages.ts";
import { type OwnLoginParts, startOwnLoginParts } from "../own-logins/own-login-parts.ts";
import { startTeamSecrets, type TeamSecrets } from "./team-secrets.ts";
import { whatIsLeft } from "./what-is-left.ts";

let parts: OwnLoginParts;
let team: TeamSecrets;
let provider: { id: string; name: string };
const path = "/org/credential_providers";

/** Sends a request with the organization's key. */
const asOrganization = async (method: string, place: string, body?: object) => {
  const { url, organization_key } = parts.stack;
  const response = await fetch(url + place, {
    method,
    headers: { authorization: `Bearer ${organization_key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${place}: ${response.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
};

beforeAll(async () => {
  parts = await startOwnLoginParts();
  team = await startTeamSecrets(parts.stack.kube, parts.stack.kubeconfig);
  const { namespace, token } = team;
  provider = await asOrganization("POST", path, { name: newId(), provider_type: "kubernetes", namespace, token });
});
afterAll(async () => {
  if (provider) await asOrganization("DELETE", `${path}/${provider.id}`);
  await team?.[Symbol.asyncDispose]();
  await parts?.[Symbol.asyncDispose]();
});

const success = { flow_status: "SUCCESS", status: "AUTHENTICATED" };
const originOf = (kind: string): string => new URL(parts.site.loginUrl(kind)).origin;
const begin = (kind: string, credential: object) => parts.begin(kind, { isStored: false, connection: { credential } });

// PROVIDER-6, PROVIDER-12, LOGIN-4
test("a login types the values of the Secret and the codes of its seed, and leaves them nowhere", async () => {
  const data = { username: "ann", password: passwordOf("otp-one"), totp: `otpauth://totp/x?secret=${totpSecret}` };
  await team.put("otp-one", originOf("otp-one"), data);
  const login = await begin("otp-one", { provider: provider.name, path: `${team.namespace}/otp-one` });
  const state = await login.over();
  expect(state).toMatchObject({ ...success, can_reauth: true, can_reauth_reason: "external_credential" });
  expect(await parts.call("GET", "/credentials")).toEqual([]);
  const told = JSON.stringify([state, await login.timeline()]);
  const left = [told, ...(await whatIsLeft(parts.stack))];
  // The control: each place tells of the login.
  for (const text of left) expect(text).toContain(login.id);
  for (const text of left)
    for (const secret of [passwordOf("otp-one"), totpSecret, team.token]) expect(text).not.toContain(secret);
});

// PROVIDER-6
test("values are typed at the origins of the Secret's addresses alone", async () => {
  await team.put("elsewhere", "https://127.0.0.1, http://127.0.0.1:9", {
    username: "ann",
    password: passwordOf("one-step"),
  });
  const login = await begin("elsewhere", { provider: provider.name, path: `${team.namespace}/elsewhere` });
  expect(await login.over()).toMatchObject({ flow_status: "FAILED", error_code: "origin_not_allowed" });
});

// PROVIDER-12, LOGIN-10
test("what a person adds to a refused login is not saved, and the next login reads the Secret as it is", async () => {
  const kind = "one-step";
  await team.put(kind, originOf(kind), { username: "ann", password: "old" });
  const credential = { provider: provider.name, path: `${team.namespace}/${kind}` };
  const login = await begin(kind, credential);
  const asked = await login.settled();
  expect(asked).toMatchObject({
    flow_step: "AWAITING_INPUT",
    fields: expect.arrayContaining([expect.objectContaining({ id: "password", reason: "rejected" })]),
  });
  await login.submit({ interaction_id: asked.interaction_id, field_values: { password: passwordOf(kind) } });
  expect(await login.over()).toMatchObject({ ...success, credential });
  expect(await parts.call("GET", "/credentials")).toEqual([]);
  await team.put(kind, originOf(kind), { username: "ann", password: passwordOf(kind) });
  const again = await begin(kind, credential);
  expect(await again.over()).toMatchObject(success);
});

// PROVIDER-9
test("a login without its credential fails by name, before a browser starts", async () => {
  const { name, id } = provider;
  const missing = await begin("missing", { provider: name, path: `${team.namespace}/nothing` });
  const failed = { flow_status: "FAILED", status: "NEEDS_AUTH" };
  const over = await missing.over();
  expect(over).toMatchObject({ ...failed, error_code: "external_credential_not_found" });
  expect((await missing.timeline())[0].browser_session_id).toBeUndefined();
  await team.put("bytes", originOf("bytes"), { password: Buffer.from([0xff]) });
  const unusable = await begin("bytes", { provider: name, path: `${team.namespace}/bytes` });
  expect(await unusable.over()).toMatchObject({ ...failed, error_code: "external_credential_unusable" });
  await asOrganization("PATCH", `${path}/${id}`, { token: team.weakToken });
  const refused = await begin("refused", { provider: name, path: `${team.namespace}/bytes` });
  expect(await refused.over()).toMatchObject({ ...failed, error_code: "credential_provider_refused" });
  await asOrganization("PATCH", `${path}/${id}`, { token: team.token });
});
