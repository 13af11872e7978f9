/** Logins that the service does with values of a real HashiCorp Vault: a service of its own that trusts it, and a real browser. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalStack, startLocalStack } from "../../../support/local-stack.ts";
import { passwordOf, totpSecret } from "../own-logins/login-pages.ts";
import { type Logins, startLogins } from "../own-logins/own-login-parts.ts";
import { type RealVault, startRealVault, teamPolicy, vaultServer } from "./real-vault.ts";
import { whatIsLeft } from "./what-is-left.ts";

const program = await vaultServer();

let vault: RealVault;
let stack: LocalStack;
let logins: Logins;
let token: string;
const provider = "the-vault";
beforeAll(async () => {
  if (!program) return;
  vault = await startRealVault(program);
  token = await vault.token(teamPolicy);
  stack = await startLocalStack({
    env: {
      BROWSERPOOL_LOG_LEVEL: "trace",
      BROWSERPOOL_CREDENTIAL_PROVIDER_ADDRESSES: vault.address,
      NODE_EXTRA_CA_CERTS: vault.caFile,
    },
  });
  logins = await startLogins(stack);
  const { address } = vault;
  const request = { name: provider, provider_type: "vault", address, path_prefix: "team", token };
  await logins.call("POST", "/org/credential_providers", request);
});
afterAll(async () => {
  await logins?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
  await vault?.[Symbol.asyncDispose]();
});

const originOf = (kind: string): string => new URL(logins.site.loginUrl(kind)).origin;
const begin = (kind: string, credential: object) => logins.begin(kind, { isStored: false, connection: { credential } });

describe.skipIf(!program)("a login by an entry of a Vault", () => {
  // PROVIDER-6, PROVIDER-12, PROVIDER-14, LOGIN-4
  test("types its values and the codes of its seed, and leaves them nowhere", async () => {
    const data = { username: "ann", password: passwordOf("otp-one"), totp: `otpauth://totp/x?secret=${totpSecret}` };
    await vault.put("team/otp-one", data, { urls: originOf("otp-one") });
    const login = await begin("otp-one", { provider, path: "secret/team/otp-one" });
    const state = await login.over();
    expect(state).toMatchObject({
      flow_status: "SUCCESS",
      status: "AUTHENTICATED",
      can_reauth_reason: "external_credential",
    });
    expect(await logins.call("GET", "/credentials")).toEqual([]);
    const told = JSON.stringify([state, await login.timeline()]);
    const left = [told, ...(await whatIsLeft({ ...stack, namespace: "default" }))];
    // The control: each place tells of the login.
    for (const text of left) expect(text).toContain(login.id);
    for (const text of left)
      for (const secret of [data.password, totpSecret, token]) expect(text).not.toContain(secret);
    const processes = await readFile(`/proc/${stack.pid}/cmdline`, "utf8");
    expect(processes).not.toContain(token);
  });

  // PROVIDER-6
  test("types only at the origins of its addresses", async () => {
    const data = { username: "ann", password: passwordOf("one-step") };
    await vault.put("team/elsewhere", data, { urls: "https://127.0.0.1, http://127.0.0.1:9" });
    const login = await begin("elsewhere", { provider, path: "secret/team/elsewhere" });
    expect(await login.over()).toMatchObject({ flow_status: "FAILED", error_code: "origin_not_allowed" });
  });

  // PROVIDER-9, PROVIDER-16
  test("fails by name before a browser starts while the Vault is sealed, and goes on afterwards", async () => {
    const kind = "one-step";
    await vault.put(`team/${kind}`, { username: "ann", password: passwordOf(kind) }, { urls: originOf(kind) });
    await vault.seal();
    const sealed = await begin(kind, { provider, auto: true });
    expect(await sealed.over()).toMatchObject({
      ...{ flow_status: "FAILED", error_code: "credential_provider_unavailable" },
      error_message: expect.stringContaining("sealed"),
    });
    expect((await sealed.timeline())[0].browser_session_id).toBeUndefined();
    await vault.unseal();
    const again = await begin(kind, { provider, path: `secret/team/${kind}` });
    expect(await again.over()).toMatchObject({ flow_status: "SUCCESS" });
  });
});
