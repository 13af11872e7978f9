import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createLogger } from "../../platform/base/log.ts";
import { BrowserPoolSpec, browserPoolKind } from "../model/pools/browser-pool.ts";
import { configHash } from "../model/settings/browser-config.ts";
import { createDeliveries } from "./deliver-setups.ts";

const sha256 = "a".repeat(64);
const spec = BrowserPoolSpec.parse({ size: 1, extensions: [{ id: "extension" }] });
const request = {
  ...{ kind: "BrowserPool" as const, namespace: "project", name: "pool", uid: "uid" },
  ...{ browser: "browser", pod: "pod", address: "127.0.0.1:1", config: configHash(spec) },
};

/**
 * A delivery to an agent that misses an archive and takes it when `sent` is settled. `reports`: what was reported of
 * it.
 */
const delivery = () => {
  const sent = Promise.withResolvers<{ kind: "ok"; missing: string[] }>();
  const sendArchive = vi.fn((..._what: unknown[]) => sent.promise);
  const reports: object[] = [];
  const deliveries = createDeliveries({
    kube: {
      get: async (kind: unknown) =>
        kind === browserPoolKind
          ? { metadata: { uid: "uid" }, spec }
          : { metadata: { name: "extension", uid: "extension-uid" }, spec: {} },
    },
    referents: { extension: () => ({ id: "extension-uid", name: "extension", sha256, bytes: 4, key: "key" }) },
    blobs: { get: async () => ({ bytes: 4, body: Readable.from(["some"]) }) },
    setupClient: { sendSetup: async () => ({ kind: "ok", missing: [sha256] }), sendArchive },
    setupRequests: {
      claim: async () => true,
      report: async (_browser: string, state: object) => void reports.push(state),
    },
    log: createLogger("silent", "test"),
  } as unknown as Parameters<typeof createDeliveries>[0]);
  deliveries.take(request);
  return { deliveries, sendArchive, sent, reports };
};

test("a setup is delivered when the agent has taken its archives", async () => {
  const { deliveries, sendArchive, sent, reports } = delivery();
  await vi.waitFor(() => expect(sendArchive).toHaveBeenCalledTimes(1));
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(reports).toEqual([]);
  sent.resolve({ kind: "ok", missing: [] });
  await deliveries.stop();
  expect(reports).toEqual([{ is: "delivered" }]);
});

test("a setup whose archive did not reach the agent has failed", async () => {
  const { deliveries, sent, reports } = delivery();
  sent.reject(new Error("cut off"));
  await deliveries.stop();
  expect(reports).toEqual([expect.objectContaining({ is: "failed" })]);
});
