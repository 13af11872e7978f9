import { expect, test } from "vitest";
import { AppError, unavailable } from "../../errors.ts";
import type { ConfigMap, Ref } from "../../kube/objects.ts";
import { createLogger } from "../../log.ts";
import { BrowserPoolSpec } from "../../resources/browser-pool.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { maxInlinePolicyBytes } from "./policy-parts.ts";
import { createPolicyUpload } from "./policy-upload.ts";

const metadata = { name: "pool", namespace: "project" };
const specOf = (length: number) =>
  BrowserPoolSpec.parse({ size: 1, chromePolicy: { HomepageLocation: "a".repeat(length) } });
const small = specOf(maxInlinePolicyBytes - JSON.stringify({ HomepageLocation: "" }).length);
const large = specOf(maxInlinePolicyBytes);

/** An upload, and the names of the ConfigMaps that there are. */
const setUp = () => {
  const stored: string[] = [];
  const kube = {
    create: async (_: unknown, part: ConfigMap) => void stored.push(part.metadata.name),
    delete: async (_: unknown, { name }: Ref) => void stored.splice(stored.indexOf(name), 1),
  } as unknown as ServiceDeps["kube"];
  return { stored, upload: createPolicyUpload({ kube, log: createLogger("silent", "test") }) };
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
