/**
 * One round of each controller of vaults, items, credentials, connections, profiles, extensions, proxies and telemetry
 * destinations, with each of its calls failing in turn: the rounds after it lead to the same end, with the same writes.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControllerParts, controllers } from "../../src/cmd/features.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { type RoundDeps, reconcileObject } from "../../src/core/reconcile/object-controller.ts";
import {
  archiveKey,
  extensionKind,
  formerKey,
  uploadUntilAnnotation,
} from "../../src/features/extensions/extension.ts";
import { emptyProfileStatus, profileFolder, profileKind } from "../../src/features/profiles/profile.ts";
import { archiveName } from "../../src/features/profiles/saved-archives.ts";
import { ownProxySecretName, proxyKind } from "../../src/features/proxies/proxy.ts";
import { createDestinationFilter } from "../../src/features/telemetry/destinations/rules/destination-problems.ts";
import {
  ownDestinationSecretName,
  telemetryDestinationKind,
} from "../../src/features/telemetry/destinations/telemetry-destination.ts";
import { authConnectionKind, loginSecretName } from "../../src/features/vaults/connections/auth-connection.ts";
import { credentialKind, ownSecretName } from "../../src/features/vaults/credentials/credential.ts";
import { vaultItemKind } from "../../src/features/vaults/items/vault-item.ts";
import { vaultKind } from "../../src/features/vaults/vault.ts";
import type { BlobStore } from "../../src/platform/blobs/blob-store.ts";
import { objectKey } from "../../src/platform/blobs/object-key.ts";
import { openBlobStore } from "../../src/platform/blobs/open-blob-store.ts";
import { itemsFinalizer } from "../../src/platform/kinds/kind.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import { keyOf, type NamespacedObject } from "../../src/platform/kube/objects.ts";
import { type ResourceType, secrets } from "../../src/platform/kube/resource-type.ts";
import type { Requeue } from "../../src/platform/kube/work-queue.ts";
import { sharedServers, testNamespace } from "../support/control-plane.ts";
import { operatorFailures, tryEveryFaultOfRounds } from "./injector.ts";
import { untilRest, type Watched, watchObjects } from "./rounds.ts";

const types = {
  vaults: vaultKind,
  items: vaultItemKind,
  credentials: credentialKind,
  connections: authConnectionKind,
  profiles: profileKind,
  extensions: extensionKind,
  proxies: proxyKind,
  destinations: telemetryDestinationKind,
} as const;

type Name = keyof typeof types;

type Deps = RoundDeps & ControllerParts;

const nameOf = (kind: string): Name => Object.entries(types).find(([, type]) => type.kind === kind)?.[0] as Name;

let kube: Kube;
let namespace: string;
let folder: string;
let blobs: BlobStore;
let deps: Deps;
let copies: Record<Name, Watched<NamespacedObject>>;

beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  namespace = (await testNamespace(kube)).name;
  folder = await mkdtemp(join(tmpdir(), "injector-"));
  ({ store: blobs } = await openBlobStore({ kind: "folder", path: folder }));
  const watched = Object.entries<ResourceType<NamespacedObject>>(types).map(([name, type]) => [
    name,
    watchObjects(kube, type, namespace),
  ]);
  copies = Object.fromEntries(watched);
  await Promise.all(Object.values(copies).map((copy) => copy.synced()));
  deps = {
    kube,
    blobs,
    caches: { of: ({ kind }) => copies[nameOf(kind)] as never },
    lead: { check: () => undefined },
    proxyProvider: {},
    destinationFilter: createDestinationFilter([]),
    now: Date.now,
  };
});
afterAll(async () => {
  await Promise.all(Object.values(copies ?? {}).map((copy) => copy.stop()));
  await kube?.close();
  await rm(folder, { recursive: true, force: true });
});

type Made = { name: Name; object: NamespacedObject };

const make = async (name: Name, spec: object, metadata: object = {}): Promise<NamespacedObject> => {
  const type: ResourceType<NamespacedObject> = types[name];
  const made = await kube.create(type, { metadata: { name: newId(), namespace, ...metadata }, spec } as never);
  await copies[name].version(made.metadata);
  return made;
};

const body = async function* (): AsyncIterable<Uint8Array> {
  yield Buffer.from("contents");
};
const store = (key: string): Promise<unknown> => blobs.put(key, body(), { signal: AbortSignal.timeout(10_000) });
const stored = (path: string): Promise<string[]> => readdir(join(folder, path)).catch(() => []);

const round = ({ name, object: { metadata } }: Made, parts: Deps = deps): Promise<Requeue | undefined> => {
  const controller = controllers.find((each) => each.name === name);
  if (!controller) throw new Error(`there is no controller of ${name}`);
  return reconcileObject(controller, keyOf(metadata), parts);
};
const version = ({ name, object: { metadata } }: Made): Promise<string> => copies[name].version(metadata);

/** Rounds without faults until the object rests. */
const settle = (made: Made): Promise<void> =>
  untilRest(
    { round: () => round(made), version: () => version(made) },
    { before: "new", ended: { result: undefined } },
  );

type Case = {
  name: Name;
  /** What the round works on; its object is in the copy. */
  prepare(): Promise<NamespacedObject>;
  /** What must hold when the rounds rest. */
  wanted(object: NamespacedObject): Promise<unknown>;
};

/** Tries every fault of a round. The object must have no version and no conditions that it has not without faults. */
const tryRound = async ({ name, prepare, wanted }: Case): Promise<void> => {
  let usual: readonly string[] | undefined;
  const rest = async (made: Made, before: string, ended: Parameters<typeof untilRest>[1]["ended"]): Promise<void> => {
    await untilRest({ round: () => round(made), version: () => version(made) }, { before, ended });
    await wanted(made.object);
    usual ??= copies[name].history(made.object.metadata.uid);
    expect(copies[name].history(made.object.metadata.uid)).toEqual(usual);
  };
  const prepared = async () => {
    const made = { name, object: await prepare() };
    return { ...made, before: await version(made) };
  };
  const plain = await prepared();
  await rest(plain, plain.before, { result: await round(plain) });
  const calls = await tryEveryFaultOfRounds({
    parts: deps,
    failures: operatorFailures,
    prepare: prepared,
    work: (made, parts) => round(made, parts),
    check: (made, ended) => rest(made, made.before, ended),
  });
  expect(calls.length).toBeGreaterThan(0);
};

const current = ({ name, object }: Made): Promise<NamespacedObject | undefined> =>
  kube.get<NamespacedObject>(types[name] as ResourceType<NamespacedObject>, object.metadata);

describe("an object that is new gets its finalizer and its conditions", () => {
  const host = "shop.example";
  const fresh = () => newId();
  test.each<[Name, () => object | Promise<object>, string]>([
    ["vaults", () => ({}), "Ready"],
    ["credentials", () => ({ domain: host, secretRef: { name: "s" }, valueKeys: ["user"] }), "Stored"],
    ["connections", () => ({ domain: host, profileName: fresh() }), "NeedsAuth"],
    ["profiles", () => ({}), "Empty"],
    ["proxies", () => ({ type: "custom", custom: { host: "proxy.example", port: 3128 } }), "Accepted"],
    ["destinations", () => ({ endpoint: "https://otlp.example/v1" }), "Accepted"],
    [
      "items",
      async () => {
        const vault = (await make("vaults", {})).metadata.name;
        return {
          vault,
          key: "login",
          connectionId: (await make("connections", { domain: host, profileName: fresh() })).metadata.name,
        };
      },
      "NoCredential",
    ],
  ])("%s", async (name, spec, reason) => {
    await tryRound({
      name,
      prepare: async () => make(name, await spec()),
      async wanted(object) {
        const now = await current({ name, object });
        expect(now?.metadata.finalizers ?? []).toHaveLength(name === "items" ? 0 : 1);
        expect(copies[name].history(object.metadata.uid).at(-1)).toMatch(
          new RegExp(`^Accepted=True Accepted, Ready=\\w+ ${reason}$`),
        );
      },
    });
  });
});

const archive = { sha256: "0".repeat(64), sizeBytes: 8, name: "it", version: "1" };

test("an extension whose archive is stored is never called one without", () =>
  tryRound({
    name: "extensions",
    async prepare() {
      const extension = await make("extensions", { archive });
      await store(archiveKey(extension));
      return extension;
    },
    async wanted({ metadata }) {
      expect(copies.extensions.history(metadata.uid).at(-1)).toBe("Accepted=True Accepted, Ready=True Stored");
    },
  }));

test("an upload that was broken off goes", () =>
  tryRound({
    name: "extensions",
    prepare: () => make("extensions", {}, { annotations: { [uploadUntilAnnotation]: "2026-01-01T00:00:00Z" } }),
    wanted: async (object) => expect(await current({ name: "extensions", object })).toBeUndefined(),
  }));

/** A profile with the contents of these versions, of which the last counts. */
const profileWith = async (oldestVersion: number, latest: number): Promise<NamespacedObject> => {
  const profile = await make("profiles", {});
  const name = (version: number): string => archiveName({ version, endMs: version, sha256: "0".repeat(64) });
  const versions = { version: latest, claimedVersion: latest, oldestVersion, archive: name(latest) };
  const status = { ...emptyProfileStatus, ...versions, observedGeneration: 1 };
  const saved = await kube.replace(profileKind, { ...profile, spec: {}, status }, { subresource: "status" });
  await copies.profiles.version(saved.metadata);
  for (let number = oldestVersion; number <= latest; number++) await store(`${profileFolder(saved)}/${name(number)}`);
  return saved;
};

test("of a profile only the contents that count stay", () =>
  tryRound({
    name: "profiles",
    prepare: () => profileWith(1, 3),
    async wanted({ metadata }) {
      expect(await stored(objectKey("profiles", metadata))).toEqual([expect.stringMatching(/^3-/)]);
      expect((await kube.get(profileKind, metadata))?.status).toMatchObject({ version: 3, oldestVersion: 3 });
    },
  }));

// PROFILE-27
test("a profile that comes back without its status finds again what is stored", () =>
  tryRound({
    name: "profiles",
    async prepare() {
      const profile = await make("profiles", {});
      for (const version of [4, 5]) {
        const name = archiveName({ version, endMs: version, sha256: `${version}`.repeat(64) });
        await store(`${objectKey("profiles", profile.metadata)}/${name}`);
      }
      return profile;
    },
    async wanted({ metadata }) {
      const { status } = (await kube.get(profileKind, metadata)) ?? {};
      expect(status).toMatchObject({ version: 5, sha256: "5".repeat(64), sizeBytes: 8, claimedVersion: 5 });
      expect(await stored(objectKey("profiles", metadata))).toEqual([expect.stringMatching(/^5-/)]);
    },
  }));

// EXTENSION-16
test("an archive that an older release has stored by the uid is moved", () =>
  tryRound({
    name: "extensions",
    async prepare() {
      const extension = await make("extensions", { archive });
      await store(formerKey(extension));
      return extension;
    },
    async wanted(extension) {
      expect(copies.extensions.history(extension.metadata.uid).at(-1)).toBe(
        "Accepted=True Accepted, Ready=True Stored",
      );
      expect(await stored(`extensions/${namespace}`)).toContain(extension.metadata.name);
    },
  }));

/** An object that rests, and is being deleted. */
const deleted = async (name: Name, object: NamespacedObject): Promise<NamespacedObject> => {
  await settle({ name, object });
  await kube.delete(types[name] as ResourceType<NamespacedObject>, object.metadata);
  await version({ name, object });
  return object;
};

describe("an object that is deleted takes along what belongs to it", () => {
  test.each<[Name, object, (name: string) => string]>([
    ["credentials", { domain: "shop.example", secretRef: { name: "s" } }, ownSecretName],
    ["connections", { domain: "shop.example", profileName: "unused" }, loginSecretName],
    ["proxies", { type: "custom", custom: { host: "proxy.example", port: 3128 } }, ownProxySecretName],
    ["destinations", { endpoint: "https://otlp.example/v1" }, ownDestinationSecretName],
  ])("%s, its Secret", async (name, spec, secretName) => {
    await tryRound({
      name,
      async prepare() {
        const object = await make(name, spec);
        await kube.create(secrets, { metadata: { name: secretName(object.metadata.name), namespace } });
        return deleted(name, object);
      },
      async wanted(object) {
        expect(await current({ name, object })).toBeUndefined();
        expect(await kube.get(secrets, { name: secretName(object.metadata.name), namespace })).toBeUndefined();
      },
    });
  });

  test("profiles, their contents", () =>
    tryRound({
      name: "profiles",
      prepare: async () => deleted("profiles", await profileWith(2, 3)),
      async wanted(object) {
        expect(await current({ name: "profiles", object })).toBeUndefined();
        expect(await stored(objectKey("profiles", object.metadata))).toEqual([]);
      },
    }));

  test("extensions, their archive", () =>
    tryRound({
      name: "extensions",
      async prepare() {
        const extension = await make("extensions", { archive });
        await store(archiveKey(extension));
        return deleted("extensions", extension);
      },
      async wanted(object) {
        expect(await current({ name: "extensions", object })).toBeUndefined();
        expect(await stored(`extensions/${namespace}`)).not.toContain(object.metadata.name);
      },
    }));

  test("vaults, their items", () =>
    tryRound({
      name: "vaults",
      async prepare() {
        const vault = await make("vaults", {}, { finalizers: [itemsFinalizer] });
        for (const key of ["one", "two"]) await make("items", { vault: vault.metadata.name, key, connectionId: "c" });
        return deleted("vaults", vault);
      },
      async wanted(object) {
        expect(await current({ name: "vaults", object })).toBeUndefined();
        const { items } = await kube.list(vaultItemKind, { namespace });
        expect(items.filter(({ spec }) => spec.vault === object.metadata.name)).toEqual([]);
      },
    }));
});

test("an item that came while its vault went goes too", () =>
  tryRound({
    name: "items",
    prepare: () =>
      make(
        "items",
        { vault: "gone", key: newId(), connectionId: "c" },
        {
          ownerReferences: [
            { apiVersion: "browserpool.dev/v1alpha1", kind: "Vault", name: "gone", uid: newId(), controller: true },
          ],
        },
      ),
    wanted: async (object) => expect(await current({ name: "items", object })).toBeUndefined(),
  }));
