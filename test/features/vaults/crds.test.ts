/** What the API server accepts and refuses for the vault's kinds. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authConnectionKind } from "../../../src/features/vaults/connections/auth-connection.ts";
import { credentialKind } from "../../../src/features/vaults/credentials/credential.ts";
import { vaultItemKind } from "../../../src/features/vaults/items/vault-item.ts";
import { vaultKind } from "../../../src/features/vaults/vault.ts";
import type { Kind } from "../../../src/platform/kinds/kind.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import type { KubeError } from "../../../src/platform/kube/kube-error.ts";
import type { KubeObject } from "../../../src/platform/kube/objects.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";

type Custom = KubeObject & { spec: Record<string, unknown> };

let kube: Kube;
let namespace: string;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  namespace = (await testNamespace(kube)).name;
});
afterAll(() => kube?.close());

let made = 0;
const create = (kind: unknown, spec: object): Promise<Custom> => {
  made += 1;
  return kube.create(kind as Kind, { metadata: { name: `o-${made}`, namespace }, spec } as never) as Promise<Custom>;
};

const refusal = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => "accepted",
    (error: KubeError) => error.message,
  );

const item = { vault: "v", key: "shop", connectionId: "c" };
const credential = { domain: "shop.example", secretRef: { name: "s" } };
const connection = { domain: "shop.example", profileName: "alice" };

describe("the API server fills in", () => {
  test.each<[string, unknown, object, object]>([
    ["nothing of a vault", vaultKind, {}, {}],
    ["type and provider of an item", vaultItemKind, item, { ...item, type: "credential", provider: "managed_auth" }],
    ["the empty contents of a credential", credentialKind, credential, { ...credential, valueKeys: [], totp: false }],
    [
      "the settings of a connection",
      authConnectionKind,
      connection,
      {
        ...connection,
        saveCredentials: true,
        healthChecks: false,
        autoReauth: true,
        recordSession: false,
      },
    ],
  ])("%s", async (_what, kind, spec, stored) => expect((await create(kind, spec)).spec).toEqual(stored));
});

describe("the API server accepts", () => {
  test.each<[string, unknown, object]>([
    ["a named vault", vaultKind, { name: "Team_A.1" }],
    [
      "origins of pages and of this machine",
      vaultItemKind,
      {
        ...item,
        allowedOrigins: [
          "https://shop.example",
          "https://[2001:db8::1]:8443",
          "http://127.0.0.1:3000",
          "http://localhost",
        ],
      },
    ],
    [
      "a credential with values of odd names and a TOTP secret",
      credentialKind,
      { ...credential, valueKeys: ["username", "login[password]", "код"], totp: true, ssoProvider: "google" },
    ],
    ["a credential for no page", credentialKind, { ...credential, allowedOrigins: [] }],
    ["a connection for some pages", authConnectionKind, { ...connection, allowedOrigins: ["https://a.test"] }],
    ["a linked credential", authConnectionKind, { ...connection, credential: { name: "login" } }],
    ["a credential elsewhere", authConnectionKind, { ...connection, credential: { provider: "p", path: "A/b" } }],
    ["a credential found elsewhere", authConnectionKind, { ...connection, credential: { provider: "p", auto: true } }],
  ])("%s", async (_what, kind, spec) => expect((await create(kind, spec)).spec).toMatchObject(spec));
});

describe("the API server refuses, and names the field", () => {
  test.each<[string, unknown, object, string]>([
    ["a vault's name with a space", vaultKind, { name: "a b" }, "spec.name"],
    ["an item without a vault", vaultItemKind, { key: "k", connectionId: "c" }, "spec.vault: Required"],
    ["an item without a connection", vaultItemKind, { vault: "v", key: "k" }, "spec.connectionId: Required"],
    ["a key with a slash", vaultItemKind, { ...item, key: "a/b" }, "spec.key"],
    ["another type", vaultItemKind, { ...item, type: "note" }, "spec.type: Unsupported value"],
    ["another provider", vaultItemKind, { ...item, provider: "p" }, "spec.provider: Unsupported value"],
    [
      "an origin with a path",
      vaultItemKind,
      { ...item, allowedOrigins: ["https://a.test/"] },
      "spec.allowedOrigins[0]",
    ],
    ["an unencrypted origin", vaultItemKind, { ...item, allowedOrigins: ["http://a.test"] }, "spec.allowedOrigins[0]"],
    ["an empty list of origins", vaultItemKind, { ...item, allowedOrigins: [] }, "spec.allowedOrigins"],
    [
      "a path in a credential",
      credentialKind,
      { ...credential, allowedOrigins: ["https://a.test/x"] },
      "spec.allowedOrigins[0]",
    ],
    ["no origin in a connection", authConnectionKind, { ...connection, allowedOrigins: [] }, "spec.allowedOrigins"],
    ["an empty label", credentialKind, { ...credential, domain: "shop..example" }, "spec.domain"],
    ["a credential without a Secret", credentialKind, { domain: "a.test" }, "spec.secretRef: Required"],
    ["a domain with a scheme", credentialKind, { ...credential, domain: "https://a.test" }, "spec.domain"],
    [
      "51 values",
      credentialKind,
      { ...credential, valueKeys: Array.from({ length: 51 }, (_, i) => `v${i}`) },
      "spec.valueKeys: Too many",
    ],
    ["a connection without a profile", authConnectionKind, { domain: "a.test" }, "spec.profileName: Required"],
    ["checks every minute", authConnectionKind, { ...connection, healthCheckInterval: 60 }, "spec.healthCheckInterval"],
    ["no place for a credential", authConnectionKind, { ...connection, credential: {} }, "give a name, or a provider"],
    [
      "two places for a credential",
      authConnectionKind,
      { ...connection, credential: { name: "a", provider: "p", path: "b" } },
      "give a name, or a provider",
    ],
    [
      "a provider alone",
      authConnectionKind,
      { ...connection, credential: { provider: "p" } },
      "give a name, or a provider",
    ],
    [
      "a provider with path and auto",
      authConnectionKind,
      { ...connection, credential: { provider: "p", path: "b", auto: true } },
      "give a name, or a provider",
    ],
  ])("%s", async (_what, kind, spec, message) => expect(await refusal(create(kind, spec))).toContain(message));
});

// VAULT-4, ITEM-6, CONNECTION-8
describe("a field that can't change", () => {
  test.each<[string, unknown, object, object, string]>([
    ["the name of a vault", vaultKind, { name: "a" }, { name: "b" }, "the name of a vault cannot change"],
    ["that a vault has no name", vaultKind, {}, { name: "b" }, "the name of a vault cannot change"],
    ["the name of a vault to none", vaultKind, { name: "a" }, { name: null }, "the name of a vault cannot change"],
    ["the vault of an item", vaultItemKind, item, { vault: "w" }, "the vault of an item cannot change"],
    ["the key of an item", vaultItemKind, item, { key: "w" }, "the key of an item cannot change"],
    [
      "the connection of an item",
      vaultItemKind,
      item,
      { connectionId: "w" },
      "the connection of an item cannot change",
    ],
    ["the domain of a connection", authConnectionKind, connection, { domain: "b.test" }, "the domain of a connection"],
    [
      "the profile of a connection",
      authConnectionKind,
      connection,
      { profileName: "b" },
      "the profile of a connection",
    ],
  ])("is %s", async (_what, kind, ...[spec, change, message]) => {
    const { metadata } = await create(kind, spec);
    expect(await refusal(kube.patch(kind as Kind, metadata, { spec: change }))).toContain(message);
  });

  test("does not block changes of other fields", async () => {
    const { metadata } = await create(vaultItemKind, item);
    const change = { description: "the shop", allowedOrigins: ["https://shop.example"] };
    expect(await kube.patch(vaultItemKind as Kind, metadata, { spec: change })).toMatchObject({ spec: change });
  });
});
