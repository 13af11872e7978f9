import { expect, test } from "vitest";
import type { ServiceDeps } from "../../../cmd/service-deps.ts";
import { BrowserPoolSpec, browserPoolKind } from "../../model/pools/browser-pool.ts";
import type { Project } from "../../projects/projects.ts";
import { checkPool } from "./pool-checks.ts";

const pooledSessions = 5;
const specOf = (size: number) => BrowserPoolSpec.parse({ size });
const poolOf = (name: string, size: number, namespace = "project") => ({
  metadata: { name, namespace, uid: `uid-of-${name}`, creationTimestamp: "2030-01-01T00:00:00Z" },
  spec: specOf(size),
});

/** Checks a pool of this size in an organization that has others. */
const check = (
  size: number,
  others: ReturnType<typeof poolOf>[],
  before?: ReturnType<typeof poolOf>,
): Promise<void> => {
  const pools = before ? [...others, before] : others;
  const deps = {
    kube: {
      get: async () => undefined,
      list: async (kind: unknown) => ({ items: kind === browserPoolKind ? pools : [] }),
    },
    config: {
      browserFeatures: [],
      limits: { pooledSessions, fillRatePerMinute: 100, sessionSeconds: 1000, onDemandSessions: 5 },
    },
    pools: { list: () => pools },
    browsers: { list: () => [] },
  } as unknown as ServiceDeps;
  const project = { id: "p", namespace: "project", limits: {} } as unknown as Project;
  return checkPool({ spec: specOf(size), project, ...(before && { before: before as never }) }, deps);
};
const refused = { code: "bad_request", message: expect.stringContaining("limit of 5 pooled sessions") };

// LIMIT-2
test("pools may have as many browsers as the organization's limit says, and not one more", async () => {
  const others = [poolOf("a", 2), poolOf("b", 1, "another-project")];
  await check(2, others);
  await expect(check(3, others)).rejects.toMatchObject(refused);
});

// LIMIT-2
test("of a pool that grows its new size counts, and one that does not is never refused", async () => {
  const [others, before] = [[poolOf("a", 3)], poolOf("own", 1)];
  await check(2, others, before);
  await expect(check(3, others, before)).rejects.toMatchObject(refused);
  await check(4, [poolOf("a", 3)], poolOf("own", 4));
});
