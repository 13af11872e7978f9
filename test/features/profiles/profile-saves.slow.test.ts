/** The operator's side of saving a profile: real agents, a real store, and what dies in the middle. */
import { createHash, createSecretKey, generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Routes, startAgentHttp } from "../../../src/core/agent/agent-http.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import type { SaveState } from "../../../src/core/pools/observe/observed.ts";
import type { ProfileSaves } from "../../../src/core/pools/on-demand/step-save.ts";
import { createAgentKeys, newPodSuffix } from "../../../src/core/protocol/agent-key.ts";
import { createAgentTokens } from "../../../src/core/protocol/agent-token.ts";
import { maxProfileBytes, type ProfileSaveState } from "../../../src/core/protocol/profile-save.ts";
import { sealStream } from "../../../src/core/protocol/sealed-bytes.ts";
import { archiveLimits } from "../../../src/features/profiles/archive/limits.ts";
import { type Profile, profileFolder, profileKind } from "../../../src/features/profiles/profile.ts";
import { createProfileClient } from "../../../src/features/profiles/profile-client.ts";
import { startProfileSaves } from "../../../src/features/profiles/profile-saves.ts";
import { listArchives } from "../../../src/features/profiles/saved-archives.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { awaitWith } from "../../../src/platform/base/retry.ts";
import type { BlobStore } from "../../../src/platform/blobs/blob-store.ts";
import { openBlobStore } from "../../../src/platform/blobs/open-blob-store.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import type { Pod } from "../../../src/platform/kube/objects.ts";
import { operatorFailures, tryEveryFault } from "../../injector/injector.ts";
import { chunksOf } from "../../platform/blobs/blob-store-contract.ts";
import { createTestAgents, type TestAgent } from "../../support/agent-process.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { type S3Server, startS3Server, withoutS3 } from "../../support/s3-server.ts";
import { createAddresses } from "../../support/simulated-node/addresses.ts";

const log = createLogger("fatal", "test");
const keys = createAgentKeys(createSecretKey(randomBytes(32)));
const agents = createTestAgents();
let kube: Kube;
let namespace: string;
let folder: string;
let blobs: BlobStore;
let stack: AsyncDisposableStack;

beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  namespace = (await testNamespace(kube)).name;
  folder = await mkdtemp(join(tmpdir(), "saves-"));
  ({ store: blobs } = await openBlobStore({ kind: "folder", path: folder }));
  stack = new AsyncDisposableStack();
});
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
  await agents[Symbol.asyncDispose]();
});
afterAll(async () => {
  await kube.close();
  await rm(folder, { recursive: true, force: true });
});

const newProfile = (): Promise<Profile> =>
  kube.create(profileKind, { metadata: { name: newId(), namespace }, spec: {} });
const read = async ({ metadata }: Profile): Promise<Profile["status"]> =>
  (await kube.get(profileKind, metadata))?.status;
const versionsOf = async (profile: Profile): Promise<string[]> =>
  (await listArchives(profile, blobs)).map(({ version }) => `${version}`);

type Saver = { pod: Pod; agent: TestAgent };

/** The pod of a browser that saves to `profile`. */
const podOf = ({ metadata }: Profile, { name, uid, ip }: { name: string; uid: string; ip: string }): Pod =>
  ({
    metadata: {
      name,
      uid,
      namespace,
      resourceVersion: "1",
      labels: { "browserpool.dev/pool": "the-browser", "browserpool.dev/saves-profile": metadata.uid },
      annotations: { "browserpool.dev/saves-profile": metadata.name },
    },
    status: { phase: "Running", podIP: ip },
  }) as Pod;

/** An agent with a used browser, whose profile has some megabytes. `saveTo`: as its setup says. */
const saver = async (profile: Profile, saveTo = profile.metadata.uid): Promise<Saver> => {
  const name = `browser-${newPodSuffix()}`;
  const agent = await agents.start({}, { setup: { save_to: saveTo }, agentKey: keys.keyOf(name) });
  await agent.bind("s", 1);
  const browser = await agent.connect("s");
  await browser.disconnect();
  const dir = (await readdir(agent.dir)).find((each) => each.startsWith("browser-")) ?? "";
  await writeFile(join(agent.dir, dir, "profile/Default/Large"), randomBytes(4 * 1024 * 1024));
  return { agent, pod: podOf(profile, { name, uid: agent.podUid, ip: new URL(agent.baseUrl).hostname }) };
};
const end = async ({ agent }: Pick<Saver, "agent">): Promise<void> => {
  agent.child.kill("SIGTERM");
  await agent.release("s", 1, "none");
};

type Parts = { kube: Kube; blobs: BlobStore };

/** One replica of the operator, while it leads. `stop`: it dies. */
const operator = (privateKey: TestAgent["privateKey"], parts: Partial<Parts> = {}): ProfileSaves => {
  const lead = new AbortController();
  const client = createProfileClient({ tokens: createAgentTokens(privateKey), keys });
  const saves = startProfileSaves({
    ...{ kube, blobs, ...parts, client, log, now: Date.now },
    lead: { signal: lead.signal, check: () => lead.signal.throwIfAborted() },
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    lead.abort(new Error("the lead is over"));
    stopping ??= saves.stop().then(() => client.close());
    return stopping;
  };
  stack.defer(stop);
  return { ...saves, stop };
};
const outcome = (saves: ProfileSaves, pod: Pod): Promise<SaveState> =>
  eventually("the save is over", () => {
    const state = saves.collect(pod);
    return state.is === "waiting" ? undefined : state;
  });
const whyWaiting = (saves: ProfileSaves, pod: Pod): Promise<string> =>
  eventually("the save waits", () => {
    const state = saves.collect(pod);
    return state.is === "waiting" ? state.why : undefined;
  });

/** A store that stands still in the middle of each blob. */
const stalling = () => {
  const reached = Promise.withResolvers<void>();
  const halfOf = async function* (body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      yield chunk;
      reached.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    }
  };
  const store: BlobStore = {
    ...blobs,
    put: (key, body, options) => blobs.put(key, halfOf(body, options.signal), options),
  };
  return { store, reached: reached.promise };
};

// PROFILE-7
test("the profile is a version when the outcome is told, and the agent ends when it is released", async () => {
  const profile = await newProfile();
  const one = await saver(profile);
  const saves = operator(one.agent.privateKey);
  const told: string[] = [];
  saves.onChange((ownerUid) => told.push(ownerUid));
  expect(saves.collect(one.pod)).toEqual({ is: "waiting" });
  await end(one);
  expect(await outcome(saves, one.pod)).toEqual({ is: "saved", version: 1 });
  expect(told).toEqual(["the-browser"]);
  expect(await read(profile)).toMatchObject({ version: 1, browserEndTime: expect.any(String) });
  expect(one.agent.child.exitCode).toBeNull();
  saves.release(one.pod);
  expect(await one.agent.exited).toBe(0);
});

// PROFILE-21
test("an agent that dies in the middle of the save leaves the old version whole", async () => {
  const profile = await newProfile();
  const first = await saver(profile);
  await end(first);
  expect(await outcome(operator(first.agent.privateKey), first.pod)).toEqual({ is: "saved", version: 1 });
  const before = await read(profile);

  const second = await saver(profile);
  await end(second);
  const { store, reached } = stalling();
  const saves = operator(second.agent.privateKey, { blobs: store });
  saves.collect(second.pod);
  await reached;
  second.agent.child.kill("SIGKILL");
  await second.agent.exited;
  await saves.stop();
  const again = operator(second.agent.privateKey);
  again.collect(second.pod);
  expect(await read(profile)).toMatchObject({ version: 1, sha256: before?.sha256 });
  expect(await versionsOf(profile)).toEqual(["1"]);
  expect(again.stateOf(`${namespace}/${second.pod.metadata.name}`)).toEqual({ is: "waiting" });
});

// PROFILE-16, PROFILE-21
test("an operator that dies in the middle of the save, or behind it, is followed by one that saves it once", async () => {
  const profile = await newProfile();
  const one = await saver(profile);
  await end(one);
  const { store, reached } = stalling();
  const dying = operator(one.agent.privateKey, { blobs: store });
  dying.collect(one.pod);
  await reached;
  await dying.stop();
  expect((await read(profile))?.version ?? 0).toBe(0);

  const next = operator(one.agent.privateKey);
  expect(await outcome(next, one.pod)).toEqual({ is: "saved", version: 2 });
  await next.stop();
  expect(await outcome(operator(one.agent.privateKey), one.pod)).toEqual({ is: "saved", version: 2 });
  expect(await versionsOf(profile)).toEqual(["2"]);
});

// PROFILE-24
test("an agent that names another profile than its pod saves nothing", async () => {
  const [own, other] = [await newProfile(), await newProfile()];
  const one = await saver(own, other.metadata.uid);
  await end(one);
  expect(await outcome(operator(one.agent.privateKey), one.pod)).toEqual({
    is: "failed",
    why: "its settings name another profile than when its pod was made",
  });
  for (const profile of [own, other]) expect((await read(profile))?.version ?? 0).toBe(0);
});

test("the largest archive that an agent packs is the largest that is saved", () => {
  expect(maxProfileBytes).toBe(archiveLimits.packedBytes);
});

const addresses = createAddresses();

/**
 * Something that answers as an agent with the pod's key. `said`: what it says of the archive, where that is not true.
 */
const packedAgent = async (
  profile: Profile,
  archive: Buffer,
  said: Partial<ProfileSaveState & { is: "packed" }> = {},
) => {
  const name = `browser-${newPodSuffix()}`;
  const uid = randomUUID();
  const address = addresses.take();
  const { privateKey } = generateKeyPairSync("ed25519");
  const state: ProfileSaveState = {
    is: "packed",
    save_to: profile.metadata.uid,
    ended_ms_ago: 0,
    sha256: createHash("sha256").update(archive).digest("hex"),
    bytes: archive.length,
    ...said,
  };
  const agentKey = keys.keyOf(name);
  const routes: Routes = {
    "/profile": { GET: async () => ({ status: 200, body: state }) },
    "/profile/archive": { GET: async () => ({ status: 200, body: sealStream(agentKey, chunksOf(archive)) }) },
  };
  const server = await startAgentHttp({
    ...{ address, port: 7510, agentKey, routes, log },
    verify: async () => true,
    requestTimeoutMs: 5000,
  });
  stack.defer(() => server.close());
  return { privateKey, pod: podOf(profile, { name, uid, ip: address }) };
};

// PROFILE-16, PROFILE-24
test.each([
  ["more bytes than it said", { bytes: 1000 }, "more bytes"],
  ["fewer bytes than it said", { bytes: 1_000_000 }, "digest"],
  ["other bytes than it said", { sha256: "0".repeat(64) }, "digest"],
])("an archive with %s becomes no version", async (_what, said, why) => {
  const profile = await newProfile();
  const { privateKey, pod } = await packedAgent(profile, randomBytes(100_000), said);
  expect(await whyWaiting(operator(privateKey), pod)).toContain(why);
  expect((await read(profile))?.version ?? 0).toBe(0);
  expect(await versionsOf(profile)).toEqual([]);
});

// PROFILE-16, PROFILE-21
test("a save of which any call fails becomes one version, by the same operator or by the next one", async () => {
  const archive = randomBytes(100_000);
  const sha256 = createHash("sha256").update(archive).digest("hex");
  const { kube: kubeFails, blobs: blobsFail } = operatorFailures;
  const calls = await tryEveryFault<Awaited<ReturnType<typeof packedAgent>> & { profile: Profile }, void, Parts>({
    parts: { kube, blobs },
    failures: { kube: kubeFails, blobs: blobsFail },
    kinds: ["refused", "lost", "death"],
    readKinds: ["refused"],
    async prepare() {
      const profile = await newProfile();
      return { profile, ...(await packedAgent(profile, archive)) };
    },
    async work({ privateKey, pod }, parts, missedTwice) {
      const saves = operator(privateKey, parts);
      await awaitWith(outcome(saves, pod), missedTwice).catch((error: unknown) => {
        if (error !== missedTwice.reason) throw error;
      });
      await saves.stop();
    },
    async check({ profile, privateKey, pod }) {
      const { version } = (await outcome(operator(privateKey), pod)) as { version: number };
      expect(await read(profile)).toMatchObject({ version, sha256 });
      expect(await versionsOf(profile)).toEqual([`${version}`]);
    },
  });
  expect(calls).toEqual(expect.arrayContaining(["blobs.put", "kube.replace"]));
}, 180_000);

// PROFILE-21
test.skipIf(process.getuid?.() === 0)(
  "a folder that can't be written to now: it is told, and tried again",
  async () => {
    const profile = await newProfile();
    const one = await saver(profile);
    await end(one);
    await chmod(folder, 0o500);
    const saves = operator(one.agent.privateKey);
    expect(await whyWaiting(saves, one.pod)).toContain("blob store");
    await chmod(folder, 0o700);
    expect(await outcome(saves, one.pod)).toMatchObject({ is: "saved" });
  },
);

describe.skipIf(withoutS3())("with S3", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3Server();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  // PROFILE-21
  test("a store that is away when the browser ends: it is told, tried again, and saved when the store is back", async () => {
    const { store, close } = await openBlobStore(server.settings);
    stack.defer(close);
    const profile = await newProfile();
    const one = await saver(profile);
    await server.kill();
    await end(one);
    const saves = operator(one.agent.privateKey, { blobs: store });
    expect(await whyWaiting(saves, one.pod)).toContain("blob store");
    await server.start();
    expect(await outcome(saves, one.pod)).toMatchObject({ is: "saved" });
    const { archive, sha256 } = (await read(profile)) ?? {};
    const stored = await store.get(`${profileFolder(profile)}/${archive}`, { signal: AbortSignal.timeout(5000) });
    const hash = createHash("sha256");
    for await (const chunk of stored?.body ?? []) hash.update(chunk);
    expect(hash.digest("hex")).toBe(sha256);
  });
});
