/**
 * One trial: a fresh browser in the namespace set aside for it, one visit, the verdict. The browser is an on-demand
 * browser like any other: its loop starts it, gives it its setup, and takes it for its session when no caller does.
 *
 *   create Browser ──► its session is active ──► visit over CDP ──► judge ──► delete Browser
 *
 * Whatever the site or the browser does is a verdict; only what the cluster refuses throws, and the trial is made
 * again.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentClient } from "../../../core/leases/agent/agent-client.ts";
import type { LeaseStore } from "../../../core/leases/lease-store.ts";
import type { LeaseRecord } from "../../../core/leases/records.ts";
import { type Browser, BrowserSpec, browserKind, isOver } from "../../../core/model/browsers/browser.ts";
import { sessionHeader } from "../../../core/protocol/agent-api.ts";
import { type AgentKeys, isUpgradeBy } from "../../../core/protocol/agent-key.ts";
import type { AgentTokens } from "../../../core/protocol/agent-token.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { BlobStore } from "../../../platform/blobs/blob-store.ts";
import { startFailureIn } from "../../../platform/kinds/conditions.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { hasReason } from "../../../platform/kube/kube-error.ts";
import { stableHash } from "../../../platform/rules/stable-hash.ts";
import { type ProxySpec, proxyKind } from "../../proxies/proxy.ts";
import type { createJudge } from "../judge/judge.ts";
import type { AnalysisSettings } from "../rules/analysis-settings.ts";
import type { ManagedProxy, Recipe } from "../site-recipe.ts";
import { visitPage } from "../visit/visit-page.ts";
import type { SiteAnalysis, Trial, Verdict } from "./site-analysis.ts";

/** The label of a trial's browser with the name of its analysis. */
export const analysisLabel = "browserpool.dev/site-analysis";

/** Longest wait for a browser, ms. The loop gives a start up after three minutes. */
const startWaitMs = 190_000;

/** Between two looks at a browser that starts, ms. */
const lookEveryMs = 250;

/** Beyond the visit, after which a browser ends by itself if the operator has died, s. */
const spareSeconds = 60;

/** Deadline for storing a screenshot, ms. */
const storeMs = 10_000;

/** The name by which sites' robots.txt are asked. */
const robotsAgent = "Browserpool";

export type TrialDeps = {
  kube: Kube;
  store: Pick<LeaseStore, "lease">;
  agents: Pick<AgentClient, "learnTime">;
  tokens: AgentTokens;
  keys: AgentKeys;
  blobs: BlobStore;
  settings: AnalysisSettings;
  judge: ReturnType<typeof createJudge>;
  metrics: { tried(verdict: Verdict): void };
  log: Logger;
};

/** The proxy of a recipe, made once in the namespace of trials. Returns its id. */
const proxyFor = async (proxy: ManagedProxy, { kube, settings }: TrialDeps): Promise<string> => {
  const metadata = { name: `trial-${stableHash(proxy)}`, namespace: settings.namespace };
  const spec: ProxySpec = { ...proxy, name: metadata.name };
  await kube.create(proxyKind, { metadata, spec }).catch((error: unknown) => {
    if (!hasReason(error, "AlreadyExists")) throw error;
  });
  return metadata.name;
};

const specOf = async ({ browser, proxy }: Recipe, deps: TrialDeps): Promise<BrowserSpec> =>
  BrowserSpec.parse({
    ...browser,
    timeoutSeconds: spareSeconds,
    maxSessionSeconds: deps.settings.visitSeconds + spareSeconds,
    // A name that leads into the cluster is no public site.
    network: { privateHosts: [] },
    ...(proxy && { proxyId: await proxyFor(proxy, deps) }),
  });

/** The lease of a browser whose session has begun; a text: why there is none. */
const untilActive = async (
  { metadata }: Browser,
  { kube, store }: TrialDeps,
  signal: AbortSignal,
): Promise<LeaseRecord | string> => {
  const untilMs = performance.now() + startWaitMs;
  while (performance.now() < untilMs) {
    const browser = await kube.get(browserKind, metadata);
    if (!browser || isOver(browser) || startFailureIn(browser.status?.conditions)) return "browser_not_started";
    const lease = browser.status?.phase === "Active" ? await store.lease(metadata.uid, metadata.name) : undefined;
    if (lease) return lease;
    await sleep(lookEveryMs, undefined, { signal });
  }
  return "browser_not_started";
};

/** The DevTools of the browser of a lease. It calls the agent. */
const devToolsOf = async (lease: LeaseRecord, { agents, tokens, keys }: TrialDeps) => {
  await agents.learnTime(lease);
  const challenge = keys.challenge(lease.pod);
  return {
    url: `ws://${lease.address}/cdp`,
    headers: {
      ...challenge.headers,
      authorization: `Bearer ${tokens.tokenFor(lease.browser)}`,
      [sessionHeader]: lease.session,
    },
    accepts: (answer: Parameters<typeof isUpgradeBy>[1]) => isUpgradeBy(challenge, answer),
  };
};

/** Stores a screenshot; undefined when the installation has no store or it does not answer: the trial is worth more. */
const keepScreenshot = async (key: string, bytes: Uint8Array | undefined, { blobs, log }: TrialDeps) => {
  if (!bytes) return undefined;
  const body = async function* (): AsyncIterable<Uint8Array> {
    yield bytes;
  };
  try {
    await blobs.put(key, body(), { signal: AbortSignal.timeout(storeMs) });
    return key;
  } catch (err) {
    log.debug({ err, blob: key }, "a screenshot could not be stored");
    return undefined;
  }
};

type Found = Pick<Trial, "verdict" | "reason" | "notes" | "httpStatus" | "screenshot">;

const visited = async (
  lease: LeaseRecord,
  { analysis, recipe, number }: TrialRequest,
  deps: TrialDeps,
  signal: AbortSignal,
): Promise<Found> => {
  const { visitSeconds, visitMegabytes, robots } = deps.settings;
  const { target, run } = analysis.spec;
  const { visit, screenshot } = await visitPage(
    {
      connect: await devToolsOf(lease, deps),
      url: target.normalized,
      limits: { timeMs: visitSeconds * 1000, bytes: visitMegabytes * 1024 * 1024 },
      hasProxy: recipe.proxy !== undefined,
      ...(robots === "respect" && { robotsAgent }),
    },
    signal,
  );
  const { verdict, reason, notes } = deps.judge(visit, target);
  const key = await keepScreenshot(`screenshots/${analysis.metadata.uid}/${run}/${number}`, screenshot, deps);
  return {
    verdict,
    reason,
    notes: [...notes],
    ...(visit.status !== undefined && { httpStatus: visit.status }),
    ...(key && { screenshot: key }),
  };
};

/** `number`: of the trial in its run, from 0. */
type TrialRequest = { analysis: SiteAnalysis; recipe: Recipe; number: number };

/** Ends what an operator that died has left of an analysis. */
export const deleteLeftovers = async (name: string, { kube, settings }: TrialDeps): Promise<void> => {
  const { namespace } = settings;
  const { items } = await kube.list(browserKind, { namespace, labelSelector: `${analysisLabel}=${name}` });
  for (const { metadata } of items) await kube.delete(browserKind, metadata, { uid: metadata.uid });
};

/** Makes one trial. Rejects when `signal` is aborted or the cluster refuses; the browser is deleted in any case. */
export const runTrial = async (request: TrialRequest, deps: TrialDeps, signal: AbortSignal): Promise<Trial> => {
  const { analysis, recipe } = request;
  const { kube, settings, log } = deps;
  const startedAtMs = Date.now();
  const metadata = {
    name: `trial-${randomBytes(9).toString("hex")}`,
    namespace: settings.namespace,
    labels: { [analysisLabel]: analysis.metadata.name },
  };
  const browser = await kube.create(browserKind, { metadata, spec: await specOf(recipe, deps) });
  try {
    const lease = await untilActive(browser, deps, signal);
    const found: Found =
      typeof lease === "string"
        ? { verdict: "inconclusive", reason: lease, notes: [] }
        : await visited(lease, request, deps, signal);
    const durationMs = Math.max(0, Date.now() - startedAtMs);
    const { verdict, reason } = found;
    deps.metrics.tried(verdict);
    log.info({ analysis: analysis.metadata.name, ...recipe, verdict, reason, durationMs }, "trial");
    const { browser: settingsOf, proxy } = recipe;
    return {
      browser: settingsOf,
      ...(proxy && { proxy }),
      ...found,
      startedAt: new Date(startedAtMs).toISOString(),
      durationMs,
    };
  } finally {
    await kube.delete(browserKind, browser.metadata, { uid: browser.metadata.uid });
  }
};
