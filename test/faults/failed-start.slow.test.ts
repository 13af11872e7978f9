/** Browsers that can't start: starts back off, the error is clear, and the pool fills once they can. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import { events } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { startLocalStack } from "../support/local-stack.ts";
import { watchPods } from "../support/pod-watch.ts";
import { poolAt } from "../support/pool-client.ts";

/**
 * Starts that are looked at: two at once, then each after a wait twice as long as the one before: 1 or 2 s, 2 or 4, 4
 * or 8.
 */
const starts = 5;
/** The shortest time that they take, s. The times of creation have whole seconds. */
const shortestSeconds = 1 + 2 + 4 - 1;

test("failed starts back off and are reported; after a restart with a working browser, the pool fills", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "bp-"));
  const broken = await startLocalStack({ dataDir, env: { BROWSERPOOL_CHROMIUM_HEADLESS: "/bin/false" } });
  const watch = await watchPods(broken.kube);
  const body = { size: 2, headless: true, fill_rate_per_minute: 6000 };
  const { id } = (await (await broken.call("POST", "/browser_pools", body)).json()) as { id: string };
  const ref = { namespace: "default", name: id };
  const { uid = "" } = (await broken.kube.get(browserPoolKind, ref))?.metadata ?? {};
  const created = await eventually(`it was started ${starts} times`, async () => {
    const times = watch.creations(uid);
    return times.length >= starts && times;
  });
  await watch.stop();
  expect((created[starts - 1] ?? 0) - (created[0] ?? 0)).toBeGreaterThanOrEqual(shortestSeconds);

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
