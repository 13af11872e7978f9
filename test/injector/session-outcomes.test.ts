/**
 * The write of what sessions found, with each of its calls failing in turn: what counts counts once, and what does not
 * is reported.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import { createEvidenceStore } from "../../src/features/sites/evidence-store.ts";
import { type Collector, createCollector } from "../../src/features/sites/outcomes/collect.ts";
import { targetOf } from "../../src/features/sites/rules/target.ts";
import { siteEvidenceKind } from "../../src/features/sites/site-evidence.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import { sharedServers } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { operatorFailures, tryEveryFaultOfRounds } from "./injector.ts";

let kube: Kube;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  await eventually("evidence is served", () => kube.list(siteEvidenceKind).catch(() => undefined));
});
afterAll(() => kube?.close());

const browser = { stealth: false, headless: true, gpu: false, viewport: { width: 1920, height: 1080 } };
const { signal } = new AbortController();

type Site = { url: string; collector: Collector; reported: Record<string, number> };

/** A collector whose evidence is written through the client of the moment. */
let present: Kube;

/** A site that a trial has made known, for which two sessions of one project wait. */
const waiting = async (): Promise<Site> => {
  present = kube;
  const url = `https://shop-${newId()}.example/`;
  const target = targetOf(url);
  if (typeof target === "string") throw new Error(target);
  const trial = {
    browser,
    accessed: 3,
    blocked: 0,
    inconclusive: 0,
    observedAt: "2026-01-01T00:00:00Z",
    supports: true,
  };
  const run = { runId: newId(), origin: "here", source: "trial" as const, results: [trial], guidance: undefined };
  await createEvidenceStore({ kube }).addRun(target, run);
  const reported: Record<string, number> = {};
  const collector = createCollector({
    evidence: { addSessions: (...args) => createEvidenceStore({ kube: present }).addSessions(...args) },
    origin: "here",
    isGiven: () => false,
    now: Date.now,
    reported(result, count) {
      reported[result] = (reported[result] ?? 0) + count;
    },
  });
  for (let session = 0; session < 2; session++) report({ url, collector });
  return { url, collector, reported };
};

const report = ({ url, collector }: Pick<Site, "url" | "collector">): void =>
  collector.add({ session: newId(), project: "p", recipe: { browser }, target: url, verdict: "accessed" });

const counted = async ({ url }: Site): Promise<number> => {
  for await (const { scope, target, configurations } of createEvidenceStore({ kube }).all()) {
    if (scope !== "exact" || target !== url) continue;
    const evidence = configurations.flatMap((one) => one.evidence);
    return evidence.reduce((sum, { source, accessed }) => sum + (source === "session" ? accessed : 0), 0);
  }
  throw new Error(`nothing is known of ${url}`);
};

// LOOKUP-87
test("whatever fails, a project counts once in an hour, and each report is counted, skipped or dropped", async () => {
  const calls = await tryEveryFaultOfRounds({
    parts: { kube },
    failures: operatorFailures,
    prepare: waiting,
    async work({ collector }, parts) {
      present = parts.kube;
      await collector.flush(signal);
    },
    async check(site, ended) {
      present = kube;
      expect(site.reported).toEqual("error" in ended ? { dropped: 2 } : { counted: 1, skipped: 1 });
      expect(await counted(site)).toBe("error" in ended ? 0 : 1);
      report(site);
      await site.collector.flush(signal);
      expect(await counted(site)).toBe(1);
    },
  });
  expect(calls).toContain("kube.replace");
});
