/** The life of analyses without trials, on a real API server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LifeDeps, serveAnalysis } from "../../../src/features/sites/analyses/life.ts";
import {
  analysisName,
  endedAnalysisLifeMs,
  siteAnalysisKind,
} from "../../../src/features/sites/analyses/site-analysis.ts";
import { absentStore } from "../../../src/platform/blobs/open-blob-store.ts";
import { blobsFinalizer } from "../../../src/platform/kinds/kind.ts";
import { startTestControlPlane, type TestControlPlane } from "../../crds/start-control-plane.ts";

const endedAt = "2026-01-02T03:04:05.000Z";
const normalized = "https://www.shop.example/";
const name = analysisName(normalized);

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane?.stop());

/** Of an installation that analyzes no sites. */
const depsAt = (nowMs: number): LifeDeps => ({
  kube: plane.kube,
  blobs: absentStore,
  now: () => nowMs,
  lead: { check: () => undefined } as LifeDeps["lead"],
  analyzer: undefined,
});

// LOOKUP-79
test("it stays for a day, and then goes with all that it has", async () => {
  const { kube } = plane;
  const spec = {
    target: { normalized, host: "www.shop.example", domain: "shop.example" },
    run: 1,
    requestedAt: endedAt,
  };
  const created = await kube.create(siteAnalysisKind, { metadata: { name }, spec });
  const status = {
    phase: "Succeeded",
    run: 1,
    endedAt,
    outcome: "recommendation",
    trials: [],
    conditions: [],
  } as const;
  await kube.replace(
    siteAnalysisKind,
    { ...created, status: { ...status, trials: [], conditions: [] } },
    { subresource: "status" },
  );
  const signal = new AbortController().signal;
  const endMs = Date.parse(endedAt) + endedAnalysisLifeMs;
  expect(await serveAnalysis(name, depsAt(endMs - 1000), signal)).toEqual({ requeueAfterMs: 1000 });
  expect((await kube.get(siteAnalysisKind, { name }))?.metadata.finalizers).toEqual([blobsFinalizer]);
  await serveAnalysis(name, depsAt(endMs), signal);
  expect((await kube.get(siteAnalysisKind, { name }))?.metadata.deletionTimestamp).toBeDefined();
});

// LOOKUP-78
test("where no site is analyzed, one that was ordered before fails, and goes when it is deleted", async () => {
  const { kube } = plane;
  const url = "https://www.ordered.example/";
  const metadata = { name: analysisName(url) };
  const target = { normalized: url, host: "www.ordered.example", domain: "ordered.example" };
  const ordered = await kube.create(siteAnalysisKind, { metadata, spec: { target, run: 2, requestedAt: endedAt } });
  const trials: [] = [];
  await kube.replace(
    siteAnalysisKind,
    { ...ordered, status: { phase: "Succeeded", run: 1, outcome: "recommendation", endedAt, trials, conditions: [] } },
    { subresource: "status" },
  );
  const deps = depsAt(Date.parse(endedAt));
  const { signal } = new AbortController();
  // Its deletion a day later is asked for with its end.
  expect(await serveAnalysis(metadata.name, deps, signal)).toEqual({ requeueAfterMs: endedAnalysisLifeMs });
  const failed = await kube.get(siteAnalysisKind, metadata);
  expect(failed?.status).toMatchObject({ phase: "Failed", run: 2, message: "this installation analyzes no sites" });
  expect(failed?.status?.outcome).toBeUndefined();
  await kube.delete(siteAnalysisKind, metadata);
  expect(await kube.get(siteAnalysisKind, metadata)).toBeDefined();
  await serveAnalysis(metadata.name, deps, signal);
  expect(await kube.get(siteAnalysisKind, metadata)).toBeUndefined();
});
