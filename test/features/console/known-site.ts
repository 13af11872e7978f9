/** What is known of a site, as objects: the service makes them of what browsers have seen. */
import { retryConflicts } from "../../../src/core/objects/change-object.ts";
import { analysisName, siteAnalysisKind } from "../../../src/features/sites/analyses/site-analysis.ts";
import { siteConfigKind } from "../../../src/features/sites/configs/site-config.ts";
import type { Kube } from "../../../src/platform/kube/client.ts";

/** Evidence of a host, one configuration that works and one that does not. `guidance`: advice in any words. */
export const createSite = async (kube: Kube, host: string, guidance: string): Promise<void> => {
  const evidence = { inconclusive: 1, runCount: 4, lastObservedAt: "2026-01-02T03:04:05Z" };
  const configurations = [
    { browser: { stealth: true, headless: false }, evidence: { ...evidence, accessed: 19, blocked: 1 } },
    { browser: { stealth: false, headless: true }, evidence: { ...evidence, accessed: 0, blocked: 12 } },
  ];
  const spec = { scope: "host", target: host, guidance, configurations };
  await kube.create(siteConfigKind, { metadata: { name: host.replaceAll(".", "-") }, spec } as never);
};

/** An analysis of a page of the host that has ended and found nothing that works. Returns its id. */
export const createAnalysis = async (kube: Kube, host: string, normalized: string): Promise<string> => {
  const at = new Date().toISOString();
  const id = analysisName(normalized);
  const target = { normalized, host, domain: host.split(".").slice(-2).join(".") };
  await kube.create(siteAnalysisKind, {
    metadata: { name: id },
    spec: { target, run: 1, requestedAt: at },
  });
  const browser = { stealth: false, headless: true, gpu: false, viewport: { width: 1920, height: 1080 } };
  const trial = {
    browser,
    verdict: "blocked",
    reason: "challenge_page",
    httpStatus: 403,
    startedAt: at,
    durationMs: 2100,
  };
  const status = { phase: "Succeeded", run: 1, startedAt: at, endedAt: at, outcome: "no_working_configuration" };
  // The operator writes into a new analysis, too.
  await retryConflicts("the analysis", async () => {
    const created = await kube.get(siteAnalysisKind, { name: id });
    const whole = { ...created, status: { ...status, trials: [trial], conditions: [] } };
    await kube.replace(siteAnalysisKind, whole as never, { subresource: "status" });
  });
  return id;
};
