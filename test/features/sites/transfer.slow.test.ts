/** `browserpool registry export|import` between two clusters, as an administrator calls it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureNamespace } from "../../../src/core/bootstrap/system-namespace.ts";
import { type SiteConfig, siteConfigKind } from "../../../src/features/sites/configs/site-config.ts";
import { createEvidenceStore } from "../../../src/features/sites/evidence-store.ts";
import type { Run } from "../../../src/features/sites/rules/site.ts";
import { totalOf } from "../../../src/features/sites/rules/site.ts";
import { type Target, targetOf } from "../../../src/features/sites/rules/target.ts";
import type { SiteLine } from "../../../src/features/sites/site-evidence.ts";
import { originOf } from "../../../src/features/sites/transfer.ts";
import { startTestControlPlane, type TestControlPlane } from "../../crds/start-control-plane.ts";

const systemNamespace = "browserpool-system";
const main = join(import.meta.dirname, "../../../src/main.ts");

type Cluster = TestControlPlane & { origin: string };

const startCluster = async (): Promise<Cluster> => {
  const plane = await startTestControlPlane();
  await ensureNamespace(plane.kube, systemNamespace);
  return { ...plane, origin: await originOf(plane.kube, systemNamespace) };
};

let a: Cluster;
let b: Cluster;
beforeAll(async () => {
  [a, b] = await Promise.all([startCluster(), startCluster()]);
});
afterAll(async () => {
  await Promise.all([a?.stop(), b?.stop()]);
});

type Ran = { code: number | null; out: string; err: string };

const registry = async (cluster: Pick<Cluster, "kubeconfig">, args: string[], input = ""): Promise<Ran> => {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
  const child = spawn(process.execPath, [main, "registry", ...args], { env });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [[code], out, err] = await Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
};

const exported = async (cluster: Cluster): Promise<string> => {
  const { code, out, err } = await registry(cluster, ["export"]);
  expect({ code, err }).toMatchObject({ code: 0 });
  return out;
};

const imported = async (cluster: Cluster, lines: string): Promise<string> => {
  const { code, err } = await registry(cluster, ["import"], lines);
  expect({ code, err }).toMatchObject({ code: 0 });
  return err;
};

const target = (url: string): Target => {
  const found = targetOf(url);
  if (typeof found === "string") throw new Error(found);
  return found;
};

const browser = { stealth: true, headless: false, gpu: false, viewport: { width: 1920, height: 1080 } };

const tried = async ({ kube, origin }: Cluster, url: string, accessed: number, runId = url): Promise<void> => {
  const results = [
    { browser, accessed, blocked: 1, inconclusive: 0, observedAt: "2026-01-01T00:00:00Z", supports: true },
  ];
  const run: Run & { runId: string } = { runId, origin, source: "trial", guidance: "Scroll down.", results };
  await createEvidenceStore({ kube }).addRun(target(url), run);
};

const sitesIn = (lines: string): SiteLine[] =>
  lines
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as SiteLine);

/** Accessed trials of a site in an export; undefined: it is not in there. */
const accessed = (lines: string, scope: string, name: string): number | undefined => {
  const site = sitesIn(lines).find((each) => each.scope === scope && each.target === name);
  return site && totalOf(site.configurations.flatMap(({ evidence }) => evidence))?.accessed;
};

// LOOKUP-70, LOOKUP-71
test("knowledge of two clusters is merged, and goes there and back without counting twice", async () => {
  await tried(a, "https://www.shop.example/x", 3);
  await tried(b, "https://www.shop.example/x", 5);
  await tried(b, "https://other.example/", 7);
  const spec = {
    scope: "host",
    target: "www.shop.example",
    configurations: [{ browser, evidence: { accessed: 11, blocked: 0, lastObservedAt: "2026-01-01T00:00:00Z" } }],
    guidance: "Given by the team.",
  };
  const conditions = [
    { type: "Accepted", status: "True", reason: "Accepted", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
  ];
  const config = await a.kube.create(siteConfigKind, { metadata: { name: "shop" }, spec } as never);
  await a.kube.replace(siteConfigKind, { ...config, status: { conditions } } as SiteConfig, { subresource: "status" });

  const ofA = await exported(a);
  expect(accessed(ofA, "exact", "https://www.shop.example/x")).toBe(3);
  expect(accessed(ofA, "host", "www.shop.example")).toBe(14);
  expect(await imported(b, ofA)).toContain("imported 3 sites");
  const ofB = await exported(b);
  for (const [scope, name, count] of [
    ["exact", "https://www.shop.example/x", 8],
    ["host", "www.shop.example", 19],
    ["exact", "https://other.example/", 7],
  ] as const)
    expect(accessed(ofB, scope, name)).toBe(count);

  await imported(b, ofA);
  expect(await exported(b)).toBe(ofB);
  await imported(a, ofB);
  const back = await exported(a);
  expect(accessed(back, "exact", "https://www.shop.example/x")).toBe(8);
  // What A has given itself is in its SiteConfig, and is not added from its own export.
  expect(accessed(back, "host", "www.shop.example")).toBe(19);
  await tried(a, "https://www.shop.example/x", 2, "another run");
  await imported(a, ofB);
  expect(accessed(await exported(a), "exact", "https://www.shop.example/x")).toBe(10);
});

const site = {
  scope: "host",
  target: "www.good.example",
  configurations: [
    {
      browser,
      evidence: [{ origin: "o", source: "trial", accessed: 3, blocked: 0, lastObservedAt: "2026-01-01T00:00:00Z" }],
    },
  ],
};

describe("an import with a bad line writes nothing and names it", () => {
  // LOOKUP-72
  test.each<[string, unknown, string]>([
    ["text", "x", "line 2 is no JSON"],
    ["another shape", { scope: "all" }, "line 2 scope: "],
    ["a target that is not public", { ...site, target: "localhost" }, "line 2 target: a host of one label"],
    ["a target that no lookup asks for", { ...site, target: "WWW.A.example" }, "asks for www.a.example"],
    ["counts below zero", JSON.stringify(site).replace('"accessed":3', '"accessed":-3'), "accessed"],
    [
      "a country that is none",
      {
        ...site,
        configurations: [{ ...site.configurations[0], proxy: { type: "residential", residential: { country: "XX" } } }],
      },
      "configurations[0].proxy.residential.country: XX",
    ],
  ])("%s", async (_name, line, message) => {
    const lines = [JSON.stringify(site), typeof line === "string" ? line : JSON.stringify(line)].join("\n");
    const { code, err } = await registry(b, ["import"], lines);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(message) });
    expect(accessed(await exported(b), "host", "www.good.example")).toBeUndefined();
  });
});

test.each<[string[], number, string]>([
  [["import", "--file", "/nowhere/at/all"], 1, "/nowhere/at/all"],
  [["export", "--file", "/nowhere/at/all"], 1, "/nowhere/at/all"],
  [["look"], 2, "unknown command 'look'"],
  [[], 2, "export [options]"],
  [["export", "--colour"], 2, "unknown option '--colour'"],
])("%j ends with %i and says why", async (args, code, message) => {
  expect(await registry(b, args)).toMatchObject({ code, err: expect.stringContaining(message) });
});

test("a cluster without the service is named", async () => {
  const env = { ...process.env, KUBECONFIG: b.kubeconfig, BROWSERPOOL_SYSTEM_NAMESPACE: "none" };
  const child = spawn(process.execPath, [main, "registry", "export"], { env });
  const [[code], err] = await Promise.all([once(child, "close"), text(child.stderr)]);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("no namespace none") });
});
