import { createHash, randomBytes } from "node:crypto";
import { once as event } from "node:events";
import { rename } from "node:fs/promises";
import { type ClientRequest, get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { zstdCompressSync } from "node:zlib";
import Kernel from "@onkernel/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { findContents } from "../../../src/features/profiles/find-contents.ts";
import { type Profile, profileBlobKey, profileKind } from "../../../src/features/profiles/profile.ts";
import { saveProfile } from "../../../src/features/profiles/profile-versions.ts";
import { archiveName } from "../../../src/features/profiles/saved-archives.ts";
import { objectKey } from "../../../src/platform/blobs/object-key.ts";
import { call as store } from "../../platform/blobs/blob-store-contract.ts";
import { eventually } from "../../support/eventually.ts";
import { openFiles } from "../../support/open-files.ts";
import { sdkRefusal } from "../../support/refused-request.ts";
import { fresh, startVaultParts, type VaultParts } from "../vaults/vault-parts.ts";

let parts: VaultParts;
let sdk: Kernel;

beforeAll(async () => {
  parts = await startVaultParts();
  sdk = parts.client();
});
afterAll(() => parts[Symbol.asyncDispose]());

const read = async (id: string, namespace = parts.namespace): Promise<Profile> => {
  const profile = await parts.kube.get(profileKind, { name: id, namespace });
  if (!profile) throw new Error(`no profile ${id}`);
  return profile;
};

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Saves contents as the operator does. */
const save = async (id: string, tar: Uint8Array): Promise<Buffer> => {
  const packed = zstdCompressSync(tar);
  const { metadata } = await read(id);
  const deps = { kube: parts.kube, blobs: parts.blobs, lead: { check: () => undefined }, now: Date.now };
  const sha256 = createHash("sha256").update(packed).digest("hex");
  const wanted = { profile: { ...metadata }, body: once(packed), sha256, endMs: Date.now() };
  await saveProfile(wanted, deps, AbortSignal.timeout(10_000));
  return packed;
};

/** Does something while the folder of blobs is not there. */
const whileAway = async (work: () => Promise<void>): Promise<void> => {
  await rename(parts.blobsFolder, `${parts.blobsFolder}.away`);
  try {
    await work();
  } finally {
    await rename(`${parts.blobsFolder}.away`, parts.blobsFolder);
  }
};

/** A pool without browsers: no pool loop runs here. */
const createPool = (profile: { id?: string; name?: string }, more: object = {}) =>
  sdk.browserPools.create({ name: fresh("pool"), size: 1, profile, ...more });

/** A key of the organization with these permissions alone. */
const keyWith = async (...permissions: string[]): Promise<Kernel> => {
  const { body } = await parts.call("POST", "/org/api_keys", { name: fresh("key"), permissions });
  const { services } = parts;
  await eventually("the key is known", () => services.apiKeys.authenticate(body.key) !== undefined);
  return new Kernel({ baseURL: sdk.baseURL, apiKey: body.key, maxRetries: 0 });
};

describe("profiles by HTTP", () => {
  // PROFILE-2, PROFILE-9
  test("are created, read by id and name, listed, renamed and deleted by the public SDK", async () => {
    const name = fresh("work");
    const created = await sdk.profiles.create({ name });
    expect(created).toEqual({
      id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/),
      name,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(await sdk.profiles.retrieve(created.id)).toEqual(created);
    expect(await sdk.profiles.retrieve(name)).toEqual(created);
    const listed = async (query: Kernel.ProfileListParams): Promise<string[]> =>
      (await sdk.profiles.list(query)).getPaginatedItems().map(({ id }) => id);
    expect(await listed({ name })).toEqual([created.id]);
    expect(await listed({ query: name.toUpperCase() })).toEqual([created.id]);
    expect(await listed({ query: created.id.slice(3, 20) })).toEqual([created.id]);
    expect(await listed({ name: name.slice(1) })).toEqual([]);

    const renamed = await sdk.profiles.update(name, { name: `${name}.2` });
    expect(renamed).toMatchObject({ id: created.id, name: `${name}.2` });
    await expect(sdk.profiles.retrieve(name)).rejects.toMatchObject(sdkRefusal(404, "not_found", name));
    await sdk.profiles.delete(`${name}.2`);
    await expect(sdk.profiles.retrieve(created.id)).rejects.toMatchObject(sdkRefusal(404, "not_found"));
  });

  // PROFILE-9
  test("need no name, and are then known by their id alone", async () => {
    const [first, second] = [await sdk.profiles.create({}), await sdk.profiles.create({})];
    expect([first.name, second.name]).toEqual([null, null]);
    expect(await sdk.profiles.retrieve(second.id)).toEqual(second);
    const accepted = await eventually("it is accepted", async () => {
      const { status } = await read(second.id);
      return status?.conditions.find(({ type }) => type === "Accepted");
    });
    expect(accepted.status).toBe("True");
  });

  // PROFILE-9, HTTP-15
  test("have names of their own, also when many ask for one at once", async () => {
    const name = fresh("only");
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => sdk.profiles.create({ name })));
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const tried of tries)
      if (tried.status === "rejected") expect(tried.reason).toMatchObject(sdkRefusal(409, "name_taken", name));
    const other = await sdk.profiles.create({ name: fresh("other") });
    await expect(sdk.profiles.update(other.id, { name })).rejects.toMatchObject(sdkRefusal(409, "name_taken", name));
    expect(await sdk.profiles.update(other.id, { name: `${other.name}` })).toMatchObject({ name: other.name });
  });

  // HTTP-2, HTTP-14, PROFILE-2
  test("refuse wrong fields by their path", async () => {
    const { id } = await sdk.profiles.create({});
    const answers = [
      await parts.call("POST", "/profiles", { name: "no spaces" }),
      await parts.call("PATCH", `/profiles/${id}`, {}),
      await parts.call("PATCH", `/profiles/${id}`, { name: "" }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      expect(body.details[0].path).toBe("name");
    }
    expect((await parts.call("GET", `/profiles/${id}/download?format=zip`)).body.details[0].path).toBe("format");
  });

  // AUTH-8, PROFILE-2
  test("of another project are unknown", async () => {
    const { id, name } = await sdk.profiles.create({ name: fresh("mine") });
    const foreign = parts.client(parts.other.projectId);
    for (const selector of [id, `${name}`]) {
      const unknown = sdkRefusal(404, "not_found");
      await expect(foreign.profiles.retrieve(selector)).rejects.toMatchObject(unknown);
      await expect(foreign.profiles.download(selector)).rejects.toMatchObject(unknown);
      await expect(foreign.profiles.delete(selector)).rejects.toMatchObject(unknown);
      const body = { name: fresh("pool"), size: 1, profile: selector === id ? { id } : { name: selector } };
      await expect(foreign.browserPools.create(body)).rejects.toMatchObject(unknown);
    }
    expect(await sdk.profiles.retrieve(id)).toMatchObject({ id });
  });
});

describe("the contents of a profile", () => {
  // PROFILE-10
  test("are downloaded as they are stored, or without compression", async () => {
    const name = fresh("full");
    const { id, updated_at } = await sdk.profiles.create({ name });
    const tar = Buffer.concat([Buffer.alloc(3_000_000), randomBytes(500_000)]);
    const packed = await save(id, tar);
    const stored = await sdk.profiles.download(id);
    expect(Object.fromEntries(stored.headers)).toMatchObject({
      "content-type": "application/zstd",
      "content-length": String(packed.length),
      "content-disposition": `attachment; filename="${name}.tar.zst"`,
      "cache-control": "no-store",
    });
    expect(Buffer.from(await stored.arrayBuffer()).equals(packed)).toBe(true);
    const plain = await sdk.profiles.download(name, { format: "tar" });
    expect(plain.headers.get("content-type")).toBe("application/x-tar");
    expect(Buffer.from(await plain.arrayBuffer()).equals(tar)).toBe(true);
    const { updated_at: later = "" } = await sdk.profiles.retrieve(id);
    expect(Date.parse(later)).toBeGreaterThanOrEqual(Date.parse(`${updated_at}`));
    const { status } = await read(id);
    expect(status).toMatchObject({
      version: 1,
      sizeBytes: packed.length,
      sha256: createHash("sha256").update(packed).digest("hex"),
    });
  });

  /** Blobs that this process, which is the API, has open. */
  const openBlobs = async (): Promise<string[]> =>
    (await openFiles()).filter((path) => path.startsWith(parts.blobsFolder));

  // PROFILE-10
  test.each(["tar", "tar.zst"])("stay open for nobody who hangs up, as %s, whenever that is", async (format) => {
    const { id } = await sdk.profiles.create({});
    await save(id, randomBytes(30_000_000));
    const begin = async (): Promise<ClientRequest> => {
      const url = `${sdk.baseURL}/profiles/${id}/download?format=${format}`;
      const request = get(url, { headers: { authorization: `Bearer ${parts.apiKey}` } }).on("error", () => undefined);
      await event(request, "socket");
      return request;
    };
    const inTheMiddle = await begin();
    const [answer] = (await event(inTheMiddle, "response")) as [IncomingMessage];
    await event(answer, "readable");
    expect(await openBlobs()).toHaveLength(1);
    inTheMiddle.destroy();
    // From before the request is read until the file is on its way.
    for (const ms of [0, 1, 2, 3, 4, 6, 8, 12, 16, 24]) {
      const request = await begin();
      await sleep(ms);
      request.destroy();
    }
    await eventually("no file is open", async () => (await openBlobs()).length === 0);
  });

  // PROFILE-10
  test("that nobody has saved are 404, which says so", async () => {
    const { id } = await sdk.profiles.create({});
    await expect(sdk.profiles.download(id)).rejects.toMatchObject(sdkRefusal(404, "not_found", "nothing is saved"));
  });

  // PROFILE-10
  test("break the connection when they are no archive, so that nobody takes a part for the whole", async () => {
    const { id } = await sdk.profiles.create({});
    await save(id, randomBytes(2_000_000));
    const profile = await read(id);
    const damaged = zstdCompressSync(randomBytes(2_000_000)).subarray(0, 1_500_000);
    await parts.blobs.put(profileBlobKey(profile), once(damaged), store());
    const answer = await sdk.profiles.download(id, { format: "tar" });
    await expect(answer.arrayBuffer()).rejects.toThrow();
  });

  // PROFILE-10
  test("are 503 while the store is away, and 404 when it has lost them", async () => {
    const { id } = await sdk.profiles.create({});
    await save(id, Buffer.from("x"));
    await whileAway(() =>
      expect(sdk.profiles.download(id)).rejects.toMatchObject(sdkRefusal(503, "unavailable", "blob store")),
    );
    await parts.blobs.delete(profileBlobKey(await read(id)), store());
    await expect(sdk.profiles.download(id)).rejects.toMatchObject(sdkRefusal(404, "not_found", "no longer"));
  });

  // PROFILE-11
  test("go with the profile, also when the store is away at first", async () => {
    const { id } = await sdk.profiles.create({});
    await save(id, Buffer.from("one"));
    const profile = await read(id);
    const log = await parts.logged();
    await whileAway(async () => {
      await sdk.profiles.delete(id);
      const failed = new RegExp(`"object":"[^"]*/${id}".*work failed`);
      await eventually("a round has failed", async () => failed.test((await parts.logged()).slice(log.length)));
      expect((await read(id)).metadata.deletionTimestamp).toBeDefined();
    });
    await eventually("the profile is gone", async () => {
      return (await parts.kube.get(profileKind, { name: id, namespace: parts.namespace })) === undefined;
    });
    expect(await parts.blobs.get(profileBlobKey(profile), store())).toBeUndefined();
  });
});

describe("a profile of a pool", () => {
  // PROFILE-5, PROFILE-12
  test("has its id in the pool's answer, and can't be deleted", async () => {
    const { id, name } = await sdk.profiles.create({ name: fresh("used") });
    for (const profile of [{ name: `${name}` }, { id }]) {
      const pool = await createPool(profile);
      expect(pool).toMatchObject({ profile_id: id, browser_pool_config: { profile } });
      await expect(sdk.profiles.delete(id)).rejects.toMatchObject(sdkRefusal(409, "conflict", `${pool.name}`));
      await sdk.browserPools.delete(pool.id);
    }
    await sdk.profiles.delete(id);
  });

  // PROFILE-13
  test("keeps its name while the pool refers to it by that, and not while it does by its id", async () => {
    const { id, name } = await sdk.profiles.create({ name: fresh("named") });
    const pool = await createPool({ name: `${name}` });
    const next = fresh("renamed");
    await expect(sdk.profiles.update(id, { name: next })).rejects.toMatchObject(
      sdkRefusal(409, "conflict", `${pool.name}`),
    );
    await sdk.browserPools.update(pool.id, { profile: { id: "" } });
    await sdk.browserPools.update(pool.id, { profile: { id } });
    expect(await sdk.profiles.update(id, { name: next })).toMatchObject({ name: next });
  });

  // POOL-PATCH-10
  test("is the same by its id and by its name: refresh stays, and the answer names it as it was given last", async () => {
    const { id, name } = await sdk.profiles.create({ name: fresh("same") });
    const other = await sdk.profiles.create({});
    const pool = await createPool({ name: `${name}` }, { refresh_on_profile_update: false });
    const stored = async () =>
      (await parts.kube.get(browserPoolKind, { name: pool.id, namespace: parts.namespace }))?.spec.profile;
    for (const profile of [{ id }, { name: `${name}` }, { id }]) {
      const again = await sdk.browserPools.update(pool.id, { profile });
      expect(again).toMatchObject({ profile_id: id, browser_pool_config: { refresh_on_profile_update: false } });
      expect(again.browser_pool_config.profile).toEqual(profile);
      expect(await stored()).toEqual(profile);
    }
    // By its id it does not stand in the way of another name.
    expect(await sdk.profiles.update(id, { name: fresh("renamed") })).toMatchObject({ id });
    const changed = await sdk.browserPools.update(pool.id, { profile: { id: other.id } });
    expect(changed).toMatchObject({ profile_id: other.id });
    expect(changed.browser_pool_config).toMatchObject({ profile: { id: other.id }, refresh_on_profile_update: true });
  });
});

// PROFILE-26
test("a browser that saves its profile is refused with a policy that would empty it, by the policy's name", async () => {
  const profile = { name: (await sdk.profiles.create({ name: fresh("kept") })).name, save_changes: true };
  const chrome_policy = {
    HomepageLocation: "https://a.example",
    BrowsingDataLifetime: [{ data_types: ["cookies_and_other_site_data"], time_to_live_in_hours: 1 }],
  };
  const { status, body } = await parts.call("POST", "/browsers", { profile, chrome_policy });
  expect({ status, paths: body.details.map(({ path }: { path: string }) => path) }).toEqual({
    status: 400,
    paths: ["chrome_policy.BrowsingDataLifetime"],
  });
});

describe("the permission profiles:use", () => {
  // PROFILE-14, AUTH-11
  test("is needed to download a profile, and to give it to a pool or a browser; not to see, clear or delete it", async () => {
    const { id } = await sdk.profiles.create({});
    await save(id, Buffer.from("x"));
    const pool = await createPool({ id });
    const manager = await keyWith("pools:read", "pools:write", "browsers:use");
    const refused = sdkRefusal(403, "forbidden", "profiles:use");
    const profile = { id };
    await expect(manager.profiles.download(id)).rejects.toMatchObject(refused);
    await expect(manager.browserPools.create({ size: 1, profile })).rejects.toMatchObject(refused);
    await expect(manager.browserPools.update(pool.id, { profile })).rejects.toMatchObject(refused);
    await expect(manager.browsers.create({ profile })).rejects.toMatchObject(refused);
    expect(await manager.profiles.retrieve(id)).toMatchObject({ id });
    await manager.browserPools.update(pool.id, { size: 2 });
    await manager.browserPools.update(pool.id, { profile: { name: "" } });
    await manager.profiles.delete(id);

    const { id: second } = await sdk.profiles.create({});
    await save(second, Buffer.from("x"));
    const user = await keyWith("pools:read", "pools:write", "profiles:use");
    expect((await user.profiles.download(second)).status).toBe(200);
    await user.browserPools.update(pool.id, { profile: { id: second } });
    const onlyUse = await keyWith("profiles:use");
    expect((await onlyUse.profiles.download(second)).status).toBe(200);
    await expect(onlyUse.profiles.retrieve(second)).rejects.toMatchObject(sdkRefusal(403, "forbidden", "pools:read"));
    await expect(onlyUse.profiles.create({})).rejects.toMatchObject(sdkRefusal(403, "forbidden", "pools:write"));
  });
});

describe("profiles by YAML", () => {
  const apply = (name: string, spec: { name?: string }): Promise<Profile> =>
    parts.kube.create(profileKind, { metadata: { name, namespace: parts.namespace }, spec });
  const condition = (name: string, type: string, reason: string) =>
    eventually(`${name} is ${type} ${reason}`, async () =>
      (await read(name)).status?.conditions.find((each) => each.type === type && each.reason === reason),
    );

  // PROFILE-9, PROFILE-15
  test("are ready though empty; of two with one name the younger waits until the name is free", async () => {
    const name = fresh("shared");
    const [older, younger] = [fresh("older"), fresh("younger")];
    await apply(older, { name });
    expect(await condition(older, "Ready", "Empty")).toMatchObject({ status: "True" });
    await apply(younger, { name });
    const refused = await condition(younger, "Accepted", "NameTaken");
    expect(refused).toMatchObject({ status: "False", message: expect.stringContaining(older) });
    expect(await sdk.profiles.retrieve(name)).toMatchObject({ id: older });
    await parts.kube.delete(profileKind, { name: older, namespace: parts.namespace });
    expect(await condition(younger, "Accepted", "Accepted")).toMatchObject({ status: "True" });
  });

  // PROFILE-11
  test("lose their contents with kubectl delete too", async () => {
    const name = fresh("yaml");
    await apply(name, {});
    await condition(name, "Ready", "Empty");
    await save(name, Buffer.from("x"));
    const profile = await read(name);
    await condition(name, "Ready", "Saved");
    await parts.kube.delete(profileKind, profile.metadata);
    await eventually("its contents are gone", async () => {
      return (await parts.blobs.get(profileBlobKey(profile), store())) === undefined;
    });
  });

  /** Contents in the store of a profile whose object is not there, as after a loss of the cluster. */
  const storeFor = async (name: string, namespace = parts.namespace): Promise<string> => {
    const packed = zstdCompressSync(randomBytes(1000));
    const sha256 = createHash("sha256").update(packed).digest("hex");
    const archive = archiveName({ version: 6, endMs: Date.UTC(2026, 0, 2), sha256 });
    await parts.blobs.put(`${objectKey("profiles", { namespace, name })}/${archive}`, once(packed), store());
    return sha256;
  };

  // PROFILE-27
  test("find again what the store has for them, and begin their next save behind it", async () => {
    const name = `${fresh("back")}.again`;
    const sha256 = await storeFor(name);
    await apply(name, {});
    await condition(name, "Ready", "Saved");
    expect((await read(name)).status).toMatchObject({ version: 6, sha256, browserEndTime: "2026-01-02T00:00:00.000Z" });
    const stored = await sdk.profiles.download(name);
    const bytes = Buffer.from(await stored.arrayBuffer());
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
    await save(name, Buffer.from("next"));
    expect((await read(name)).status).toMatchObject({ version: 7 });
  });

  // PROFILE-28
  test("don't get what another project has stored under the same name, nor take it along", async () => {
    const name = fresh("foreign");
    await storeFor(name, parts.other.namespace);
    await apply(name, {});
    await condition(name, "Ready", "Empty");
    await save(name, Buffer.from("mine"));
    await parts.kube.delete(profileKind, { name, namespace: parts.namespace });
    await eventually("the profile is gone", async () => {
      return (await parts.kube.get(profileKind, { name, namespace: parts.namespace })) === undefined;
    });
    const kept = [];
    const folder = objectKey("profiles", { namespace: parts.other.namespace, name });
    for await (const { key } of parts.blobs.list(folder, store())) kept.push(key);
    expect(kept).toHaveLength(1);
  });

  // PROFILE-27
  test("are empty for nobody while the store is away", async () => {
    const name = fresh("unknown");
    const sha256 = await storeFor(name);
    await whileAway(async () => {
      await apply(name, {});
      const profile = await read(name);
      await expect(findContents(profile, parts)).rejects.toMatchObject({ code: "unavailable" });
    });
    await condition(name, "Ready", "Saved");
    expect(await findContents(await read(name), parts)).toMatchObject({ sha256 });
  });
});
