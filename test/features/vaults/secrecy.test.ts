/** The places where stored values are, and where they must not be. */
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kinds } from "../../../src/cmd/features.ts";
import type { ServiceDeps } from "../../../src/cmd/service-deps.ts";
import { updateCredential } from "../../../src/features/vaults/credentials/update-credential.ts";
import { openItem } from "../../../src/features/vaults/items/open-item.ts";
import { vaultItemKind } from "../../../src/features/vaults/items/vault-item.ts";
import { totpCode } from "../../../src/features/vaults/logins/rules/totp.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { readSecretsKeys } from "../../../src/platform/secrets/sealing.ts";
import { connected, fresh, itemOf, startVaultParts, type VaultParts } from "./vault-parts.ts";

const seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

let parts: VaultParts;
beforeAll(async () => {
  parts = await startVaultParts({ encrypted: true });
});
afterAll(() => parts?.[Symbol.asyncDispose]());

/** A text in the forms that it may have: as it is, in base64 at each offset, in hexadecimal digits. */
const disguises = (text: string): string[] => [
  text,
  ...[0, 1, 2].map((pad) =>
    Buffer.from("x".repeat(pad) + text)
      .toString("base64")
      .replace(/=+$/, "")
      .slice(pad + 1, -1),
  ),
  Buffer.from(text).toString("base64url").slice(0, -2),
  Buffer.from(text).toString("hex"),
];

const leaks = (where: string, texts: string[]): string[] =>
  texts.flatMap((text) => disguises(text).filter((form) => where.includes(form)));

/** Everything in a Redis, as text. */
const dumpRedis = async (url: string): Promise<string> => {
  const redis = new Redis(url);
  try {
    const keys = await redis.keys("*");
    const values = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
    return [...keys, ...values.map((value) => value?.toString("latin1") ?? "")].join("\n");
  } finally {
    redis.disconnect();
  }
};

const vaultOf = async (): Promise<string> => (await parts.call("POST", "/vaults", { name: fresh("vault") })).body.id;

const itemObject = async (id: string) =>
  (await parts.kube.get(vaultItemKind, { namespace: parts.namespace, name: id })) as Parameters<typeof openItem>[0];

const opened = async (id: string, deps: Pick<ServiceDeps, "kube" | "secretsKeys"> = parts.services) => {
  const project = parts.services.projects.find(parts.projectId);
  if (!project) throw new Error("no project");
  const item = await openItem(await itemObject(id), project, deps);
  if (!("login" in item)) throw new Error(`the item is ${item.state.status}`);
  return item;
};

describe("a value", () => {
  // VAULT-15, ITEM-33, CREDENTIAL-2, CREDENTIAL-16
  test("is in no answer, log line, custom resource, event, Redis key, metric or Secret as plain text", async () => {
    const [user, password, changed] = ["user", "password", "changed"].map(
      (what) => `canary-${what}-${randomBytes(9).toString("hex")}`,
    );
    const texts = [user, password, changed].map(String);
    const answers: unknown[] = [];
    const call = async (...args: Parameters<VaultParts["call"]>) => {
      const answer = await parts.call(...args);
      answers.push([answer.body, [...answer.headers]]);
      return answer.body;
    };
    const name = fresh("login");
    const body = { name, domain: "a.test", values: { user, password }, totp_secret: seed };
    const { id: credential } = await call("POST", "/credentials", body);
    await call("POST", "/credentials", body);
    await call("POST", "/credentials", { ...body, domain: "x y" });
    await call("PATCH", `/credentials/${name}`, { values: { password: changed } });
    await call("PATCH", `/credentials/${name}`, { values: { password: changed, n: 1 } });
    await call("GET", `/credentials/${name}`);
    await call("GET", "/credentials");
    const { id: connection } = await call("POST", "/auth/connections", {
      domain: "a.test",
      profile_name: fresh("profile"),
      credential: { name },
    });
    const vault = await vaultOf();
    const { id } = await call("PUT", `/vaults/${vault}/items/a`, itemOf(connection));
    for (const path of ["", "/a", "/a/events"]) await call("GET", `/vaults/${vault}/items${path}`);
    await fetch(new URL("/credentials", parts.client().baseURL), {
      method: "POST",
      headers: { authorization: `Bearer ${parts.apiKey}`, "content-type": "application/json", "idempotency-key": name },
      body: JSON.stringify({ ...body, name: fresh("again") }),
    });

    const { login } = await opened(id);
    expect(login.values.get("user")?.reveal()).toBe(user);
    expect(login.values.get("password")?.reveal()).toBe(changed);
    expect(login.totpSecret?.reveal()).toBe(seed);

    const objects = await Promise.all(kinds.map((kind) => parts.kube.list(kind, { namespace: parts.namespace })));
    const stored = await parts.kube.get(secrets, { namespace: parts.namespace, name: `credential-${credential}` });
    const plain = Object.values(stored?.data ?? {}).map((text) => Buffer.from(text, "base64").toString());
    expect(plain).toHaveLength(3);
    const metrics = await (await fetch(new URL("/metrics", parts.client().baseURL))).text();
    const places: Record<string, string> = {
      answers: JSON.stringify(answers),
      log: await parts.logged(),
      "custom resources": JSON.stringify(objects),
      Redis: await dumpRedis(parts.redisUrl),
      metrics,
      Secret: [...plain, JSON.stringify(stored)].join("\n"),
      "the open item, printed": JSON.stringify({ ...login, values: [...login.values] }),
    };
    expect(places.answers).toContain(credential);
    expect(places.log).toContain("/credentials");
    for (const [place, text] of Object.entries(places)) expect(leaks(text, [...texts, seed]), place).toEqual([]);
  });

  test("is found by this search where it must be", () => {
    const text = "canary-0123456789";
    for (const where of [text, Buffer.from(`{"a":"${text}"}`).toString("base64"), Buffer.from(text).toString("hex")])
      expect(leaks(where, [text])).not.toEqual([]);
  });
});

describe("encryption at rest", () => {
  const fileKeys = () => readSecretsKeys(parts.keyFile);

  test("allows a new key: values of the old key can be read, and a change encrypts them with the new one", async () => {
    const { connection, name } = await connected(parts, { user: "alice" }, { totp_secret: seed });
    const { id } = (await parts.call("PUT", `/vaults/${await vaultOf()}/items/a`, itemOf(connection))).body;
    const former = (await readFile(parts.keyFile, "utf8")).trim();
    const newest = randomBytes(32).toString("base64");
    await writeFile(parts.keyFile, `${newest}\n${former}\n`);
    const rotated = { kube: parts.services.kube, secretsKeys: fileKeys() };
    expect((await opened(id, rotated)).login.values.get("user")?.reveal()).toBe("alice");
    await writeFile(parts.keyFile, newest);
    await expect(opened(id, { ...rotated, secretsKeys: fileKeys() })).rejects.toThrow("BROWSERPOOL_SECRETS_KEY_FILE");

    await writeFile(parts.keyFile, `${newest}\n${former}\n`);

    const project = parts.services.projects.find(parts.projectId);
    if (!project) throw new Error("no project");
    await updateCredential({ idOrName: name, request: {} }, project, { ...parts.services, ...rotated });
    await writeFile(parts.keyFile, newest);
    const { login } = await opened(id, { ...rotated, secretsKeys: fileKeys() });
    expect([login.values.get("user")?.reveal(), login.totpSecret?.reveal()]).toEqual(["alice", seed]);
    await writeFile(parts.keyFile, former);
  });

  test("binds a value to its place: a copy in another credential can't be decrypted", async () => {
    const [victim, thief] = [await connected(parts, { user: "alice" }), await connected(parts, { user: "mallory" })];
    const { id } = (await parts.call("PUT", `/vaults/${await vaultOf()}/items/a`, itemOf(thief.connection))).body;
    const ref = (credential: string) => ({ namespace: parts.namespace, name: `credential-${credential}` });
    const { data } = (await parts.kube.get(secrets, ref(victim.credential))) ?? {};
    await parts.kube.patch(secrets, ref(thief.credential), { data });
    await expect(opened(id)).rejects.toMatchObject({ code: "internal_error" });
  });

  test("is not needed to read values that were stored before it", async () => {
    const { connection, credential } = await connected(parts, { user: "alice" });
    const { id } = (await parts.call("PUT", `/vaults/${await vaultOf()}/items/a`, itemOf(connection))).body;
    const ref = { namespace: parts.namespace, name: `credential-${credential}` };
    await parts.kube.patch(secrets, ref, { data: { user: Buffer.from("plain").toString("base64") } });
    expect((await opened(id)).login.values.get("user")?.reveal()).toBe("plain");
  });

  test("makes codes from an encrypted secret", async () => {
    const { credential } = await connected(parts, {}, { totp_secret: seed });
    const { code, expires_at } = await parts.client().credentials.totpCode(credential);
    expect(code).toBe(totpCode(seed, Date.parse(expires_at) - 1)?.code);
  });
});
