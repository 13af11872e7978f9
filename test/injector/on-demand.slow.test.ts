/**
 * The rounds of an on-demand browser, with each of their calls failing in turn: it never gets a second pod, its session
 * begins, and nothing of it is left when that has ended.
 */
import { generateKeyPairSync } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type Browser, browserKind } from "../../src/core/model/browsers/browser.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { onDemandView } from "../../src/core/pools/on-demand/browser-as-pool.ts";
import { type ReconcileOnDemandDeps, reconcileOnDemand } from "../../src/core/pools/on-demand/reconcile-on-demand.ts";
import type { ProfileSaves } from "../../src/core/pools/on-demand/step-save.ts";
import { createAgentTokens } from "../../src/core/protocol/agent-token.ts";
import { createProfileClient, type ProfileClient } from "../../src/features/profiles/profile-client.ts";
import { startProfileSaves } from "../../src/features/profiles/profile-saves.ts";
import { absentStore } from "../../src/platform/blobs/open-blob-store.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import { keyOf, type Pod } from "../../src/platform/kube/objects.ts";
import { sharedServers } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { agentKeys, type SmallAgent, silent, startSmallAgent } from "../support/lease-parts.ts";
import { faultKinds, operatorFailures, tryEveryFaultOfRounds } from "./injector.ts";
import {
  becomeReady,
  type PoolParts,
  type PoolSetting,
  podsAndKeys,
  registerIdle,
  startPoolSetting,
} from "./pool-rounds.ts";
import { untilRest } from "./rounds.ts";

/** Each test prepares some dozens of browsers, ms; the machine does other work too. */
vi.setConfig({ testTimeout: 180_000 });

let kube: Kube;
let client: ProfileClient;
let saves: ProfileSaves;
let setting: PoolSetting<Browser>;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  client = createProfileClient({
    tokens: createAgentTokens(generateKeyPairSync("ed25519").privateKey),
    keys: agentKeys,
  });
  const lead = { signal: new AbortController().signal, check: () => undefined };
  saves = startProfileSaves({ kube, blobs: absentStore, client, lead, now: Date.now, log: silent });
  setting = await startPoolSetting<Browser>({
    view: onDemandView,
    reconcile: (key, deps) =>
      reconcileOnDemand(key, { ...deps, saves, sessionSeconds: 3600 } as unknown as ReconcileOnDemandDeps),
  });
});
afterAll(async () => {
  await setting?.[Symbol.asyncDispose]();
  await saves?.stop();
  await client?.close();
  await kube?.close();
});

let agents = new AsyncDisposableStack();
afterEach(async () => {
  await agents.disposeAsync();
  agents = new AsyncDisposableStack();
});

const make = async (): Promise<Browser> => {
  const name = newId();
  const spec = { name: `it-${name}`, headless: true } as Browser["spec"];
  const browser = await setting.kube.create(browserKind, { metadata: { name, namespace: setting.namespace }, spec });
  await setting.version(browser);
  return browser;
};

const round = (browser: Browser, parts?: PoolParts) => setting.replica().round(keyOf(browser.metadata), parts);

/** So many rounds; the first that fails ends them. */
const work = async (browser: Browser, parts: PoolParts, count: number): Promise<void> => {
  for (let done = 0; done < count; done++) {
    await setting.version(browser);
    await round(browser, parts);
  }
};

/** Rounds without faults until the browser rests. A dead operator has a successor. */
const rest = async (browser: Browser, kind?: string): Promise<void> => {
  if (kind === "death") await setting.replace();
  await untilRest(
    {
      round: () => round(browser),
      version: () => setting.version(browser),
      restMs: 30_000,
      pass: (ms) => setting.replica().pass(ms),
    },
    { before: "", ended: { result: undefined } },
  );
};

const statusOf = async ({ metadata }: Browser) => (await setting.kube.get(browserKind, metadata))?.status;
const ever = ({ metadata: { uid } }: Browser): Pod[] =>
  setting.pods.ever().filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));

/** A browser whose pod is ready, and idle for Redis; nobody has taken it. */
const idle = async (): Promise<{ browser: Browser; agent: SmallAgent }> => {
  const browser = await make();
  await rest(browser);
  const [pod] = ever(browser);
  if (!pod) throw new Error("there is no pod");
  const agent = agents.use(await startSmallAgent("ok", agentKeys.keyOf(pod.metadata.name)));
  await registerIdle(setting, pod, agent.address);
  await becomeReady(setting.kube, pod);
  await setting.version(browser);
  return { browser, agent };
};

/** Rounds until the operator has taken the browser for its session, and its agent knows. */
const active = ({ browser, agent }: { browser: Browser; agent: SmallAgent }): Promise<unknown> =>
  eventually("its session is active", async () => {
    await round(browser);
    return (await statusOf(browser))?.phase === "Active" && agent.holder() === browser.metadata.name;
  });

test("it starts once", async () => {
  const calls = await tryEveryFaultOfRounds({
    parts: setting.parts,
    failures: operatorFailures,
    kinds: [...faultKinds, "death"],
    prepare: make,
    work: (browser, parts) => work(browser, parts, 2),
    async check(browser, _, { kind }) {
      await rest(browser, kind);
      const { pods, keys } = await podsAndKeys(setting, browser.metadata.uid);
      expect([pods, ever(browser).length]).toEqual([keys, 1]);
      expect(setting.replica().pending(browser.metadata.uid)).toBe(0);
      expect(await statusOf(browser)).toMatchObject({ phase: "Starting", pod: pods[0] });
    },
  });
  expect(calls).toContain("kube.create");
});

test("when no caller waits, it is taken for its session, again until its agent has it", async () => {
  const calls = await tryEveryFaultOfRounds({
    parts: setting.parts,
    failures: operatorFailures,
    kinds: [...faultKinds, "death", "last"],
    prepare: idle,
    work: ({ browser }, parts) => work(browser, parts, 1),
    async check({ browser, agent }, _, { kind }) {
      if (kind === "death") await setting.replace();
      await active({ browser, agent });
      expect(ever(browser)).toHaveLength(1);
      const owner = { poolUid: browser.metadata.uid, session: browser.metadata.name };
      expect(await setting.parts.names.find(setting.projectId, `it-${browser.metadata.name}`)).toEqual(owner);
    },
  });
  expect(calls).toContain("agents.bind");
});

test("when its session has ended, it says why, and neither pod nor key is left", async () => {
  const calls = await tryEveryFaultOfRounds({
    parts: setting.parts,
    failures: operatorFailures,
    kinds: ["refused", "lost", "death"],
    async prepare() {
      const made = await idle();
      await active(made);
      const { browser } = made;
      const { uid, name } = browser.metadata;
      await setting.parts.store.release(uid, name, "retired", "released");
      return browser;
    },
    work: (browser, parts) => work(browser, parts, 2),
    async check(browser, _, { kind }) {
      await rest(browser, kind);
      expect(await statusOf(browser)).toMatchObject({ phase: "Ended", endReason: "released" });
      expect(await podsAndKeys(setting, browser.metadata.uid)).toEqual({ pods: [], keys: [] });
      expect(ever(browser)).toHaveLength(1);
    },
  });
  expect(calls).toContain("kube.delete");
});
