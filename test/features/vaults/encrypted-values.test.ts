/** Logins that come encrypted to the key of a vault. */
import { randomBytes } from "node:crypto";
import { CompactEncrypt, importJWK } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { credentialKind } from "../../../src/features/vaults/credentials/credential.ts";
import { openLogin } from "../../../src/features/vaults/logins/stored-login.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { type Answer, fresh, startVaultParts, type VaultParts } from "./vault-parts.ts";

let parts: VaultParts;
beforeAll(async () => {
  parts = await startVaultParts({ encrypted: true });
});
afterAll(() => parts?.[Symbol.asyncDispose]());

type Key = { kid: string; alg: string; enc: string; jwk: { kty: string; crv: string; x: string; y: string } };

const newVault = async (project?: string): Promise<{ id: string; key: Key }> => {
  const { body } = await parts.call("POST", "/vaults", { name: fresh("vault") }, project);
  return { id: body.id, key: (await parts.call("GET", `/vaults/${body.id}/encryption_key`, undefined, project)).body };
};
const encrypt = async (value: string | Uint8Array, { jwk, ...header }: Key): Promise<string> => {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return new CompactEncrypt(bytes).setProtectedHeader(header).encrypt(await importJWK(jwk, "ECDH-ES"));
};
const create = (sealed: object, values: object = {}, project?: string): Promise<Answer> =>
  parts.call(
    "POST",
    "/credentials",
    { name: fresh("login"), domain: "shop.example", values, encrypted_values: sealed },
    project,
  );
const stored = async (id: string): Promise<Record<string, string>> => {
  const credential = await parts.kube.get(credentialKind, { namespace: parts.namespace, name: id });
  if (!credential) throw new Error("no credential");
  const { values } = await openLogin(credential, parts.services);
  return Object.fromEntries([...values].map(([name, value]) => [name, value.reveal()]));
};

describe("the key of a vault", () => {
  // VAULT-16
  test("is the same for all requests, and another for each vault", async () => {
    const { body } = await parts.call("POST", "/vaults", { name: fresh("vault") });
    const replica = await parts.replica();
    const path = `/vaults/${body.id}/encryption_key`;
    const asked = [parts.call("GET", path), replica("GET", path), parts.call("GET", path), replica("GET", path)];
    const keys = (await Promise.all(asked)).map((answer) => JSON.stringify(answer.body));
    expect(new Set(keys).size).toBe(1);
    const bare = expect.stringMatching(/^[\w-]{43}$/);
    expect(JSON.parse(keys[0] ?? "")).toEqual({
      kid: expect.stringContaining(body.id),
      alg: "ECDH-ES",
      enc: "A256GCM",
      jwk: { kty: "EC", crv: "P-256", x: bare, y: bare },
    });
    expect((await newVault()).key.jwk).not.toEqual(JSON.parse(keys[0] ?? "").jwk);
    expect((await parts.call("GET", path, undefined, parts.other.projectId)).status).toBe(404);
  });

  // VAULT-16
  test("is encrypted in its Secret, and gone with the vault", async () => {
    const { id } = await newVault();
    const list = async () => (await parts.kube.list(secrets, { namespace: parts.namespace })).items;
    const own = (await list()).find(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === id));
    expect(own?.type).toBe("browserpool.dev/vault-key");
    expect(Buffer.from(own?.data?.["private-key"] ?? "", "base64").toString()).toMatch(/^bp-sealed:v1:/);
    await parts.call("DELETE", `/vaults/${id}`);
    await eventually("the key to be gone", async () =>
      (await list()).every(({ metadata }) => metadata.name !== own?.metadata.name),
    );
  });
});

describe("encrypted values", () => {
  // VAULT-17
  test("are stored as others are, by POST and PATCH", async () => {
    const { key } = await newVault();
    const made = await create({ password: await encrypt("ö😀 pass", key) }, { username: "ann" });
    expect(made).toMatchObject({ status: 201, body: { value_keys: ["password", "username"] } });
    expect(await stored(made.body.id)).toEqual({ username: "ann", password: "ö😀 pass" });
    const change = { encrypted_values: { password: await encrypt("new", key), pin: await encrypt("1", key) } };
    expect((await parts.call("PATCH", `/credentials/${made.body.id}`, change)).status).toBe(200);
    expect(await stored(made.body.id)).toEqual({ username: "ann", password: "new", pin: "1" });
    expect(await parts.logged()).not.toContain("ö😀 pass");
  });

  // VAULT-17
  test("of any other key are refused as a mismatch", async () => {
    const { id, key } = await newVault();
    const mismatch = {
      status: 400,
      body: { code: "encryption_key_mismatch", message: expect.stringContaining("encrypted_values.a") },
    };
    const foreign = await newVault(parts.other.projectId);
    expect(await create({ a: await encrypt("x", foreign.key) })).toMatchObject(mismatch);
    expect(await create({ a: await encrypt("x", key) }, {}, parts.other.projectId)).toMatchObject(mismatch);
    for (const kid of ["", "x", id, `${id}.`, `${id}.x`, "../../x.y", `${"x".repeat(300)}.y`])
      expect(await create({ a: await encrypt("x", { ...key, kid }) })).toMatchObject(mismatch);
    await parts.call("DELETE", `/vaults/${id}`);
    const jwe = await encrypt("x", key);
    await eventually("the key to be gone", async () => (await create({ a: jwe })).status === 400);
    expect(await create({ a: jwe })).toMatchObject(mismatch);
  });

  // VAULT-17
  test("that can't be opened, or break a rule of values, are refused by name and never quoted", async () => {
    const { key } = await newVault();
    const { key: other } = await newVault();
    const good = await encrypt("secret-text", key);
    const [header = "", encrypted = "", ...rest] = good.split(".");
    const spoilt = [
      "",
      "x",
      "a.b.c.d.e",
      good.slice(0, -4),
      [header, encrypted, rest[0], `${rest[1]}AA`, rest[2]].join("."),
      await encrypt("secret-text", { ...key, enc: "A128GCM" }),
      await encrypt("secret-text", { ...key, alg: "ECDH-ES+A256KW" }),
      await encrypt("secret-text", { ...other, kid: key.kid }),
      await encrypt(new Uint8Array([0xff, 0xfe]), key),
      await encrypt("x".repeat(4097), key),
    ];
    for (const jwe of spoilt) {
      const answer = await create({ pass: jwe });
      expect(answer).toMatchObject({ status: 400, body: { code: "bad_request" } });
      expect(JSON.stringify(answer.body)).toContain("encrypted_values.pass");
      expect(JSON.stringify(answer.body)).not.toMatch(/secret-text|xxxx/);
    }
    expect(await create({ pass: good }, { pass: "other" })).toMatchObject({ status: 400 });
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`v${index}`, "1"]));
    expect(await create({ pass: good }, many)).toMatchObject({ status: 400 });
    expect(await create({ pass: randomBytes(20_000).toString("hex") })).toMatchObject({ status: 400 });
  });
});
