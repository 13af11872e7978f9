import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "prom-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLogger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { pods } from "../../platform/kube/resource-type.ts";
import { createOperatorMetrics } from "../metrics/operator-metrics.ts";
import { BrowserPoolSpec, browserPoolKind } from "../model/pools/browser-pool.ts";
import { runPoolController } from "./controller.ts";
import type { LoopParts } from "./pool-loop.ts";

const pool = {
  apiVersion: "browserpool.dev/v1alpha1",
  kind: "BrowserPool",
  metadata: { name: "pool", namespace: "project", uid: "uid", resourceVersion: "1", generation: 1 },
  spec: BrowserPoolSpec.parse({ size: 1 }),
};

/** Parts that a new leader reads first. */
const partsToKnow = ["pods", "acceptedSessions", "nodes", "references", "savers"] as const;

/**
 * The controller of a new leader with one pool, to which one part is not known until `know`. `patched`: the first write
 * of a round.
 */
const lead = (unknown: (typeof partsToKnow)[number]) => {
  const known = Promise.withResolvers<void>();
  const over = new AbortController();
  const patched = vi.fn();
  const kube = {
    async list(type: unknown) {
      if (type === pods && unknown === "pods") await known.promise;
      return { items: type === browserPoolKind ? [pool] : [], resourceVersion: "1" };
    },
    async *watch(_type: unknown, _options: unknown, signal: AbortSignal) {
      if (!signal.aborted) await once(signal, "abort");
      yield* [];
    },
    async patch() {
      patched();
      throw new Error("this was the first write");
    },
  } as unknown as Kube;
  const part = (name: string) => ({
    synced: async () => (name === unknown ? known.promise : undefined),
    subscribe: () => () => undefined,
    onChange: () => () => undefined,
    open: () => new Map(),
  });
  const subscriber = Object.assign(new EventEmitter(), { subscribe: async () => 1 });
  const deps = {
    ...{ kube, subscriber, repairs: { epoch: async () => 1 }, endedLimits: { perPool: 1, perProject: 1 } },
    ...{
      acceptedSessions: part("acceptedSessions"),
      nodes: part("nodes"),
      references: part("references"),
      savers: part("savers"),
    },
    ...{ saves: part("saves"), gate: part("gate"), limits: {}, endedLeases: {}, store: {}, names: {} },
    podSettings: {},
    metrics: createOperatorMetrics(new Registry(), () => true),
    log: createLogger("silent", "test"),
  } as unknown as Parameters<typeof runPoolController>[0] & LoopParts;
  const running = runPoolController(deps, { signal: over.signal, check: () => undefined });
  onTestFinished(async () => {
    known.resolve();
    over.abort();
    await running;
  });
  return { patched, know: known.resolve };
};

test.each(partsToKnow)("a new leader does nothing for a pool before it knows: %s", async (unknown) => {
  const { patched, know } = lead(unknown);
  // All else is known at once.
  await sleep(100);
  expect(patched).not.toHaveBeenCalled();
  know();
  await vi.waitFor(() => expect(patched).toHaveBeenCalled(), 10_000);
});
