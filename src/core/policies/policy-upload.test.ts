import { expect, test } from "vitest";
import type { ServiceDeps } from "../../cmd/service-deps.ts";
import { AppError, unavailable } from "../../platform/base/errors.ts";
import { createLogger } from "../../platform/base/log.ts";
import type { ConfigMap, Ref } from "../../platform/kube/objects.ts";
import { type BrowserPool, BrowserPoolSpec } from "../model/pools/browser-pool.ts";
import { maxInlinePolicyBytes, maxPartBytes } from "./policy-parts.ts";
import { createPolicyUpload } from "./policy-upload.ts";

const metadata = { name: "pool", namespace: "project" };
const specOf = (length: number) =>
  BrowserPoolSpec.parse({ size: 1, chromePolicy: { HomepageLocation: "a".repeat(length) } });
const small = specOf(maxInlinePolicyBytes - JSON.stringify({ HomepageLocation: "" }).length);
const large = specOf(maxInlinePolicyBytes);

/** Room for three parts. */
const config = { limits: { policyBytesPerProject: 3 * maxPartBytes } } as ServiceDeps["config"];

/** An upload, and the names of the ConfigMaps that there are. */
const setUp = (others: BrowserPool[] = []) => {
  const stored: string[] = [];
  const kube = {
    create: async (_: unknown, part: ConfigMap) => void stored.push(part.metadata.name),
    list: async () => ({ items: others }),
    delete: async (_: unknown, { name }: Ref) => void stored.splice(stored.indexOf(name), 1),
  } as unknown as ServiceDeps["kube"];
  return { stored, upload: createPolicyUpload({ kube, config, log: createLogger("silent", "test") }) };
};

test("a policy of up to 16 KiB stays in the pool, a larger one is stored once for all tries of a request", async () => {
  const { stored, upload } = setUp();
  expect(await upload.place(small, metadata)).toBe(small);
  expect(stored).toEqual([]);
  const placed = await upload.place(large, metadata);
  expect(placed).toMatchObject({ size: 1, chromePolicyRef: { configMaps: stored } });
  expect(placed).not.toHaveProperty("chromePolicy");
  expect(await upload.place(large, metadata)).toEqual(placed);
  expect(stored).toHaveLength(1);
});

test("a write that is refused leaves no parts; after an outage they stay, as the pool may refer to them", async () => {
  for (const [error, left] of [
    [new AppError("payload_too_large", "no"), 0],
    [new AppError("not_found", "no"), 0],
    [unavailable("the Kubernetes API"), 1],
  ] as const) {
    const { stored, upload } = setUp();
    const work = async () => {
      await upload.place(large, metadata);
      throw error;
    };
    await expect(upload.orUndo(work)).rejects.toBe(error);
    expect(stored).toHaveLength(left);
  }
});

// LIMIT-36
test("policies of a project have a bound in bytes, in which those of the pool itself don't count", async () => {
  const pool = (name: string, parts: number) =>
    ({
      metadata: { ...metadata, name },
      spec: { chromePolicyRef: { configMaps: Array.from({ length: parts }, () => "c") } },
    }) as BrowserPool;
  const { stored, upload } = setUp([pool("a", 2), pool("pool", 8)]);
  expect(await upload.place(large, metadata)).toMatchObject({ chromePolicyRef: { configMaps: stored } });
  const full = setUp([pool("a", 2), pool("b", 1)]);
  await expect(full.upload.place(large, metadata)).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("BROWSERPOOL_POLICY_BYTES_PER_PROJECT"),
  });
  expect(full.stored).toEqual([]);
});
