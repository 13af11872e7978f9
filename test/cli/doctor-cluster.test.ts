/**
 * `browserpool doctor --cluster` where there is no release: the API server is that of local mode. What it says of a
 * release, whole and broken, is in the cluster tests.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { policiesByValue, projectPolicies } from "../../src/cli/doctor/installation.ts";
import { quotas } from "../../src/cli/doctor/project.ts";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { repository } from "../setup/sandbox.ts";
import { eventually } from "../support/eventually.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
beforeAll(async () => {
  stack = await startProject();
});
afterAll(() => stack[Symbol.asyncDispose]());

const doctor = async (args: string[], env: Record<string, string>) => {
  const child = spawn(process.execPath, [join(repository, "src/main.ts"), "doctor", "--cluster", ...args], { env });
  const [[code], out, err] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
};

test("it uses the service, and says which release is not there and how to name another one", async () => {
  const env = { KUBECONFIG: stack.kubeconfig, KERNEL_BASE_URL: stack.url, KERNEL_API_KEY: stack.api_key };
  const { code, out } = await doctor(["-o", "json", "--release", "none"], env);
  const findings = JSON.parse(out) as Finding[];
  const states = Object.fromEntries(findings.map(({ name, state }) => [name, state]));
  expect(states).toMatchObject({ "API server": "ok", clock: "ok", CRDs: "ok", service: "ok", "blob store": "ok" });
  expect(states).toMatchObject({ browser: "ok", deployments: "problem", "admission policies": "problem" });
  expect(findings.find(({ name }) => name === "deployments")).toMatchObject({
    says: "no release none in namespace browserpool-system",
    wayOut: expect.stringContaining("--release NAME"),
  });
  expect(code).toBe(1);
  for (const path of ["/browser_pools", "/browsers", "/extensions"])
    expect(await (await stack.call("GET", path)).json()).toEqual([]);
});

test("it names a pool that gets no browser, and a quota that is used up, with the way out", async () => {
  const { kube, namespace } = stack;
  const pool = { namespace, name: newId() };
  const quota = { namespace, name: newId() };
  const spec = { size: 100_000, headless: true } as BrowserPool["spec"];
  await kube.create(browserPoolKind, { metadata: pool, spec });
  await kube.create(quotas, { metadata: quota, spec: { hard: { pods: "3" } } });
  try {
    // Nothing counts here.
    const status = { hard: { pods: "3" }, used: { pods: "3" } };
    await kube.patch(quotas, quota, { status }, { subresource: "status" });
    const found = await eventually("the pool is refused", async () => {
      const { out } = await doctor(["-o", "json", "--project", namespace], { KUBECONFIG: stack.kubeconfig });
      const findings = JSON.parse(out) as Finding[];
      return findings.find(({ name }) => name === "pools")?.state === "problem" && findings;
    });
    const finding = (wanted: string) => found.find(({ name }) => name === wanted);
    expect(finding("pools")?.says).toContain(`${pool.name}: PooledSessionsLimit: `);
    expect(finding("quotas")).toMatchObject({
      state: "warning",
      says: `${quota.name}: all 3 of pods are used`,
      wayOut: expect.stringContaining("ResourceQuota"),
    });
  } finally {
    await kube.delete(browserPoolKind, pool);
    await kube.delete(quotas, quota);
  }
});

test("without a key it says what it leaves out, and with a wrong one where to look", async () => {
  const { out } = await doctor([], { KUBECONFIG: stack.kubeconfig });
  expect(out).toMatch(/^- +service +not tried: set KERNEL_BASE_URL and KERNEL_API_KEY$/m);
  const env = { KUBECONFIG: stack.kubeconfig, KERNEL_BASE_URL: stack.url, KERNEL_API_KEY: "bp_wrong" };
  const wrong = await doctor([], env);
  expect(wrong.out).toMatch(/^problem +service +.*\n +→ check KERNEL_BASE_URL and KERNEL_API_KEY/m);
  expect(wrong.out).toMatch(/^- +browser +the service does not answer$/m);
  expect(wrong.out + wrong.err).not.toContain("bp_wrong");
});

test("where no API server answers, it says so once; without a kubeconfig it does not begin", async () => {
  const kubeconfig = join(stack.dataDir, "away");
  writeFileSync(kubeconfig, readFileSync(stack.kubeconfig, "utf8").replace(/127\.0\.0\.1:\d+/, "127.0.0.1:3"));
  const { code, out } = await doctor(["-o", "json"], { KUBECONFIG: kubeconfig });
  const findings = JSON.parse(out) as Finding[];
  expect(findings.filter(({ state }) => state === "problem").map(({ name }) => name)).toEqual(["API server"]);
  expect(code).toBe(1);
  expect(await doctor([], {})).toMatchObject({ code: 1, out: "", err: expect.stringContaining("set KUBECONFIG") });
});

const templates = join(repository, "charts/browserpool/templates");

test("every ValidatingAdmissionPolicy of the chart is known, with the value that turns it off", () => {
  const found = readdirSync(join(templates, "rbac")).flatMap((file) => {
    const text = readFileSync(join(templates, "rbac", file), "utf8");
    const [, value] = /^\{\{- if \.Values\.(rbac\.\w+) \}\}/m.exec(text) ?? [];
    const names = text.matchAll(/^kind: ValidatingAdmissionPolicy\nmetadata:\n {2}name: \{\{ \$fullname \}\}-(\S+)$/gm);
    return [...names].map(([, name]) => [name, value]);
  });
  const known = Object.entries(policiesByValue).flatMap(([value, names]) => names.map((name) => [name, value]));
  expect(found.length).toBeGreaterThan(9);
  expect(known.toSorted()).toEqual(found.toSorted());
});

test("every NetworkPolicy of a project is known", () => {
  const text = readFileSync(join(templates, "browsers/project-objects.yaml"), "utf8");
  const found = [...text.matchAll(/^ {4}kind: NetworkPolicy\n {4}metadata:\n {6}name: (\S+)$/gm)].map(
    ([, name]) => name,
  );
  expect(projectPolicies).toEqual(found);
});
