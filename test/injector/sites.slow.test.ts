/** The rounds of SiteConfigs and of analyses, with each of their calls failing in turn. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, browserKind } from "../../src/core/model/browsers/browser.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { type LifeDeps, serveAnalysis } from "../../src/features/sites/analyses/life.ts";
import { createAnalyzer, type RunDeps } from "../../src/features/sites/analyses/run.ts";
import {
  analysisName,
  type SiteAnalysis,
  type SiteAnalysisStatus,
  siteAnalysisKind,
  type Trial,
} from "../../src/features/sites/analyses/site-analysis.ts";
import { analysisLabel } from "../../src/features/sites/analyses/trial.ts";
import { reconcileSiteConfig } from "../../src/features/sites/configs/controller.ts";
import { type SiteConfig, siteConfigKind } from "../../src/features/sites/configs/site-config.ts";
import { createEvidenceStore } from "../../src/features/sites/evidence-store.ts";
import { candidates } from "../../src/features/sites/rules/trial-plan.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import type { BlobStore } from "../../src/platform/blobs/blob-store.ts";
import { openBlobStore } from "../../src/platform/blobs/open-blob-store.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import { startReflector } from "../../src/platform/kube/reflector.ts";
import type { Requeue } from "../../src/platform/kube/work-queue.ts";
import { sharedServers, testNamespace } from "../support/control-plane.ts";
import { operatorFailures, tryEveryFaultOfRounds } from "./injector.ts";
import { untilRest, type Watched, watchObjects } from "./rounds.ts";

const log = createLogger("silent", "test");
const lead = { signal: new AbortController().signal, check: () => undefined };
const rules = { minTrials: 3, minRate: 0.7 };
const at = "2026-01-01T00:00:00.000Z";

let kube: Kube;
let namespace: string;
let folder: string;
let blobs: BlobStore;
let analyses: Watched<SiteAnalysis>;
let configs: Watched<SiteConfig>;
/** Says of each browser that it did not start. */
let loop: { stop(): Promise<void> };

beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  namespace = (await testNamespace(kube)).name;
  folder = await mkdtemp(join(tmpdir(), "injector-"));
  ({ store: blobs } = await openBlobStore({ kind: "folder", path: folder }));
  analyses = watchObjects(kube, siteAnalysisKind);
  configs = watchObjects(kube, siteConfigKind);
  const fail = ({ metadata, status }: Browser): void => {
    if (status?.phase === "Failed") return;
    const failed = { conditions: [], phase: "Failed", endTime: at };
    kube.patch(browserKind, metadata, { status: failed }, { subresource: "status" }).catch(() => undefined);
  };
  loop = startReflector<Browser>({
    ...{ kube, type: browserKind, namespace, log },
    onChange: (browser, change) => change === "DELETED" || fail(browser),
  });
  await Promise.all([analyses.synced(), configs.synced()]);
});
afterAll(async () => {
  await Promise.all([analyses?.stop(), configs?.stop(), loop?.stop()]);
  await kube?.close();
  await rm(folder, { recursive: true, force: true });
});

const body = async function* (): AsyncIterable<Uint8Array> {
  yield Buffer.from("picture");
};
const isStored = async (key: string): Promise<boolean> => {
  const found = await blobs.get(key, { signal: AbortSignal.timeout(10_000) });
  return found !== undefined && (await text(found.body)) === "picture";
};

const targetOf = (domain: string) => ({ normalized: `https://${domain}/`, host: domain, domain });

/** An analysis with this status. */
const analysis = async (
  status: Partial<SiteAnalysisStatus>,
  target = targetOf(`shop-${newId()}.example`),
): Promise<SiteAnalysis> => {
  const metadata = { name: analysisName(target.normalized) };
  const made = await kube.create(siteAnalysisKind, { metadata, spec: { target, run: 1, requestedAt: at } });
  const all = { conditions: [], run: 1, trials: [], phase: "Running" as const, ...status };
  return kube.replace(siteAnalysisKind, { ...made, status: all }, { subresource: "status" });
};

type Parts = { kube: Kube; blobs: BlobStore };

const round = ({ metadata: { name } }: SiteAnalysis, parts: Parts = { kube, blobs }): Promise<Requeue | undefined> => {
  const settings = { namespace, visitSeconds: 5, proxies: [] } as unknown as RunDeps["settings"];
  const deps = {
    ...{ ...parts, lead, log, now: Date.now, settings, rules, judgeVersion: "1", sentences: {}, origin: "here" },
    evidence: createEvidenceStore(parts),
    metrics: { tried: () => undefined },
  } as unknown as RunDeps;
  return serveAnalysis(name, { ...deps, analyzer: createAnalyzer(deps) } satisfies LifeDeps, lead.signal);
};

const rest = (one: SiteAnalysis, ended: Parameters<typeof untilRest>[1]["ended"]): Promise<void> =>
  untilRest({ round: () => round(one), version: () => analyses.version(one.metadata) }, { before: "", ended });

/** Trials that say nothing, of all configurations but the last: one more, and the run has ended. */
const almostAll = (): Trial[] => {
  const all = candidates({ ...rules, proxies: [], countries: undefined });
  const unknown = {
    verdict: "inconclusive",
    reason: "browser_not_started",
    startedAt: at,
    durationMs: 1,
    notes: [],
  } as const;
  return [all[0], ...all.slice(0, -1)].flatMap((recipe) => (recipe ? [{ ...recipe, ...unknown, notes: [] }] : []));
};

const browsersOf = async ({ metadata: { name } }: SiteAnalysis): Promise<string[]> =>
  (await kube.list(browserKind, { namespace, labelSelector: `${analysisLabel}=${name}` })).items.map(
    ({ metadata }) => metadata.name,
  );

/** How many inconclusive trials the evidence has of the site itself. */
const known = async ({ spec: { target } }: SiteAnalysis): Promise<number> => {
  for await (const site of createEvidenceStore({ kube }).all())
    if (site.scope === "exact" && site.target === target.normalized)
      return site.configurations.flatMap(({ evidence }) => evidence).reduce((sum, one) => sum + one.inconclusive, 0);
  return 0;
};

test("an analysis makes each trial once, counts once, and leaves no browser, whatever fails", async () => {
  const calls = await tryEveryFaultOfRounds({
    parts: { kube, blobs },
    failures: operatorFailures,
    kinds: ["refused", "lost"],
    async prepare() {
      const one = await analysis({ trials: almostAll(), startedAt: new Date().toISOString() });
      const metadata = { name: `left-${newId()}`, namespace, labels: { [analysisLabel]: one.metadata.name } };
      await kube.create(browserKind, { metadata, spec: {} as Browser["spec"] });
      return one;
    },
    work: (one, parts) => round(one, parts),
    async check(one, ended) {
      await rest(one, ended);
      const now = await kube.get(siteAnalysisKind, one.metadata);
      expect(now?.status).toMatchObject({ phase: "Succeeded", run: 1, outcome: "target_not_evaluable" });
      expect(now?.status?.trials).toHaveLength(5);
      expect([await browsersOf(one), await known(one)]).toEqual([[], 5]);
    },
  });
  expect(calls).toContain("kube.create");
});

test("the runs of an analysis that is ordered again after its deletion are counted, too", async () => {
  const status = () => ({ trials: almostAll(), startedAt: new Date().toISOString() });
  const first = await analysis(status());
  await rest(first, { result: undefined });
  expect(await known(first)).toBe(5);
  await kube.delete(siteAnalysisKind, first.metadata);
  await round(first);
  const second = await analysis(status(), first.spec.target);
  expect([second.metadata.name, second.spec.run]).toEqual([first.metadata.name, first.spec.run]);
  await rest(second, { result: undefined });
  expect(await known(second)).toBe(10);
});

test("an ended analysis goes after its day, with its pictures", () =>
  tryEveryFaultOfRounds({
    parts: { kube, blobs },
    failures: operatorFailures,
    async prepare() {
      const screenshot = `screenshots/${newId()}`;
      await blobs.put(screenshot, body(), { signal: AbortSignal.timeout(10_000) });
      const [trial] = almostAll();
      const trials = trial ? [{ ...trial, screenshot }] : [];
      const one = await analysis({ phase: "Succeeded", endedAt: at, outcome: "inconclusive", trials });
      // The first round asks for the deletion, the second one carries it out.
      await round(one);
      return { one, screenshot };
    },
    work: ({ one }, parts) => round(one, parts),
    async check({ one, screenshot }, ended) {
      expect((await kube.get(siteAnalysisKind, one.metadata)) !== undefined || !(await isStored(screenshot))).toBe(
        true,
      );
      await rest(one, ended);
      expect(await kube.get(siteAnalysisKind, one.metadata)).toBeUndefined();
      expect(await isStored(screenshot)).toBe(false);
    },
  }).then((calls) => expect(calls).toContain("blobs.delete")));

test("a SiteConfig says whether it is in force, once", async () => {
  const work = (name: string, parts: { kube: Kube }) =>
    reconcileSiteConfig(name, { ...parts, configs, rivalsOf: ({ metadata }) => [metadata.name], rules, lead });
  const calls = await tryEveryFaultOfRounds({
    parts: { kube },
    failures: operatorFailures,
    async prepare() {
      const spec = { scope: "host", target: `shop-${newId()}.example`, configurations: [] } as SiteConfig["spec"];
      const { metadata } = await kube.create(siteConfigKind, { metadata: { name: newId() }, spec });
      return { metadata, before: await configs.version(metadata) };
    },
    work: ({ metadata }, parts) => work(metadata.name, parts),
    async check({ metadata, before }, ended) {
      await untilRest(
        { round: () => work(metadata.name, { kube }), version: () => configs.version(metadata) },
        { before, ended },
      );
      expect(configs.history(metadata.uid)).toEqual(["", "Accepted=True Accepted, Ready=False NoConfigurations"]);
    },
  });
  expect(calls).toEqual(["kube.replace"]);
});
