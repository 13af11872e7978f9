/** Browsers that can't start: starts back off, the error is clear, and the pool fills once they can. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { KubeObject } from "../../src/kube/objects.ts";
import { events, pods } from "../../src/kube/resource-type.ts";
import { browserPoolKind } from "../../src/resources/browser-pool.ts";
import { eventually } from "../support/eventually.ts";
import { startLocalStack } from "../support/local-stack.ts";
import { poolAt } from "../support/pool-client.ts";

/** Time in which starts are counted, ms. */
const observedMs = 8000;

test("failed starts back off and are reported; after a restart with a working browser, the pool fills", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "bp-"));
  const broken = await startLocalStack({ dataDir, env: { BROWSERPOOL_CHROMIUM_HEADLESS: "/bin/false" } });
  const created = new Set<string>();
  const body = { size: 2, headless: true, fill_rate_per_minute: 6000 };
  const { id } = (await (await broken.call("POST", "/browser_pools", body)).json()) as { id: string };
  const ref = { namespace: "default", name: id };
  const untilMs = performance.now() + observedMs;
  while (performance.now() < untilMs) {
    for (const { metadata } of (await broken.kube.list(pods, { namespace: "default" })).items)
      created.add(metadata.name);
    await sleep(50);
  }
  // 2 at once, then one after 1 or 2, 4, 8 … s.
  expect(created.size).toBeGreaterThan(2);
  expect(created.size).toBeLessThanOrEqual(6);

  const progressing = await eventually("the pool says so", async () => {
    const { status } = (await broken.kube.get(browserPoolKind, ref)) ?? {};
    const condition = status?.conditions.find(({ type }) => type === "Progressing");
    return condition?.reason === "BackingOff" && condition;
  });
  expect(progressing).toMatchObject({ status: "True", message: expect.stringMatching(/^\d+ starts failed in a row/) });
  const { items } = await broken.kube.list(events, { namespace: "default" });
  const failed = (items as (KubeObject & { reason: string; note: string })[]).filter(
    ({ reason }) => reason === "FailedStart",
  );
  expect(failed.length).toBeGreaterThan(0);
  expect(failed[0]?.note).toContain("did not start: Chromium ended with code 1");
  expect((await poolAt(broken.call, id).ask(1)).status).toBe(204);
  await broken.stop();
  await broken.kube.close();

  const repaired = await startLocalStack({ dataDir });
  await poolAt(repaired.call, id).whenCounts({ acquired: 0, available: 2 });
  const { status } = (await repaired.kube.get(browserPoolKind, ref)) ?? {};
  expect(status?.failedStarts).toBe(0);
  await repaired[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true });
}, 120_000);
