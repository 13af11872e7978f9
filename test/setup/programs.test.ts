import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { locatePython } from "../../scripts/setup/python-environments.mjs";
import {
  cachedProgramPath,
  checkProgramVersions,
  clusterPrograms,
  clusterProgramVersions,
  gitOpsProgramVersions,
  pinnedVersions,
  receiverProgramVersions,
  releaseProgramVersions,
  storePrograms,
  storeProgramVersions,
  testProgramVersions,
  vaultProgramVersions,
} from "../../src/local/locate-programs.mjs";
import { isAlive } from "../support/processes.ts";
import { createSandbox, eventually, fakeGo, fakePython, repository, type Sandbox, systemPrograms } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
  for (const name of systemPrograms) sandbox.program(name);
});
afterEach(() => sandbox.remove());

const cached = (): string[] => readdirSync(join(sandbox.cache, "bin")).sort();
const servers = (["control-plane", "etcd", "kube-apiserver"] as const).map((name) =>
  basename(cachedProgramPath(name, {})),
);
const whole = [...servers, `kubectl-${pinnedVersions.kubectl}`].sort();
const built = (): (string | undefined)[] =>
  sandbox
    .lines("calls")
    .filter((line) => line.split(" ")[1] === "build")
    .map((line) => line.split(" ")[2]);
const touch = (name: string): void => writeFileSync(join(sandbox.folder, name), "");
describe("building the control plane", () => {
  test("puts one program for both servers in the cache, checked against go.sum, and prints nothing the next time", async () => {
    fakeGo(sandbox);
    expect((await sandbox.setUp()).code).toBe(0);
    expect(cached()).toEqual(servers);
    expect(built()).toEqual(["control-plane"]);
    expect(sandbox.lines("calls").every((line) => line.endsWith(" -mod=readonly -modcacherw"))).toBe(true);
    expect(await sandbox.setUp()).toEqual({ code: 0, output: "" });
  });

  test("gets kubectl only when it is asked for", async () => {
    fakeGo(sandbox);
    expect((await sandbox.setUp(["--kubectl"])).code).toBe(0);
    expect(cached()).toEqual([`kubectl-${pinnedVersions.kubectl}`]);
    expect(await sandbox.setUp(["--kubectl"])).toEqual({ code: 0, output: "" });
  });

  test("adds the robustness tests' programs only for them", async () => {
    fakeGo(sandbox);
    sandbox.program("faketime");
    expect((await sandbox.setUp(["--robustness"])).code).toBe(0);
    const added = Object.entries(testProgramVersions).map(([name, version]) => `${name}-${version}`);
    expect(cached()).toEqual([...whole, ...added].sort());
    expect(await sandbox.setUp(["--robustness"])).toEqual({ code: 0, output: "" });
  });

  test("adds the S3 server, the collector, what judges objects and the Python client only for the tests", async () => {
    fakeGo(sandbox);
    fakePython(sandbox);
    expect((await sandbox.setUp(["--tests"])).code).toBe(0);
    const added = Object.entries({
      ...storeProgramVersions,
      ...receiverProgramVersions,
      ...gitOpsProgramVersions,
    }).map(([name, version]) => `${name}-${version}`);
    expect(cached()).toEqual([...whole, ...added].sort());
    expect(locatePython("python-client", repository, sandbox.env)).toMatch(/python-client-[0-9a-f]{8}\/bin\/python$/);
    expect(await sandbox.setUp(["--tests"])).toEqual({ code: 0, output: "" });
  });

  test("adds the chart's checkers only for the check, which needs no control plane", async () => {
    fakeGo(sandbox);
    expect((await sandbox.setUp(["--check"])).code).toBe(0);
    expect(cached()).toEqual(
      Object.entries(checkProgramVersions)
        .map(([name, version]) => `${name}-${version}`)
        .sort(),
    );
    expect(await sandbox.setUp(["--check"])).toEqual({ code: 0, output: "" });
  });

  test("adds the cluster tests' programs only for them, without a control plane", async () => {
    fakeGo(sandbox);
    expect((await sandbox.setUp(["--cluster"])).code).toBe(0);
    const wanted = [...clusterPrograms, ...storePrograms];
    expect(cached()).toEqual(wanted.map((name) => basename(cachedProgramPath(name, {}))).sort());
    expect(await sandbox.setUp(["--cluster"])).toEqual({ code: 0, output: "" });
  });

  test("a failed build shows the tool's last lines, the log and what to do; the next run continues from there", async () => {
    fakeGo(sandbox);
    fakePython(sandbox);
    touch("fail-kubectl");
    const { code, output } = await sandbox.setUp(["--tests"]);
    expect(code).toBe(1);
    expect(output).toContain("| kubectl.go:1: does not compile");
    const log = join(sandbox.cache, "setup-programs.log");
    expect(output).toContain(log);
    expect(output).toContain("run again");
    expect(readFileSync(log, "utf8")).toContain("does not compile");
    expect(cached()).toEqual(servers);

    rmSync(join(sandbox.folder, "fail-kubectl"));
    rmSync(join(sandbox.folder, "calls"));
    expect((await sandbox.setUp(["--tests"])).code).toBe(0);
    expect(built()).toEqual(["kubectl", "versitygw", "otelcol", "gitops-health"]);
    expect(cached()).toEqual(expect.arrayContaining(whole));
  });

  test("a Go that is too old, or none, leaves the building to the pinned one", async () => {
    fakeGo(sandbox, "go1.19.8");
    const pinned = fakeGo(sandbox, "go1.26.8", join(sandbox.cache, "go-1.26.8/bin/go"));
    expect((await sandbox.setUp()).code).toBe(0);
    rmSync(join(sandbox.bin, "go"));
    expect((await sandbox.setUp(["--kubectl"])).code).toBe(0);
    const builders = sandbox.lines("calls").filter((line) => line.includes(" build "));
    expect(builders.map((line) => line.split(" ")[0])).toEqual([pinned, pinned]);
  });

  test("an interrupt ends the started tools, exits with 130 and leaves no lock and no part of a program", async () => {
    fakeGo(sandbox);
    touch("hold");
    const run = sandbox.start();
    await eventually(() => sandbox.lines("grandchild").length > 0);
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
    expect(run.stderr()).toContain("the next run goes on from here");
    await eventually(async () => !(await isAlive(Number(sandbox.lines("grandchild")[0]))));
    expect(cached()).toEqual([]);
    expect(existsSync(join(sandbox.cache, "setup.lock"))).toBe(false);
  });
});

describe("two set-ups at once", () => {
  test("the second waits for the first and repeats nothing", async () => {
    fakeGo(sandbox);
    touch("hold");
    const first = sandbox.start();
    await eventually(() => built().length > 0);
    const second = sandbox.start();
    await eventually(() => second.stderr().includes(`another set-up (process ${first.child.pid})`));
    rmSync(join(sandbox.folder, "hold"));
    expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
    expect(built()).toEqual(["control-plane"]);
  });

  test("the lock of a killed set-up delays no other set-up", async () => {
    fakeGo(sandbox);
    touch("hold");
    const killed = sandbox.start();
    await eventually(() => built().length > 0);
    killed.child.kill("SIGKILL");
    await killed.ended;
    expect(existsSync(join(sandbox.cache, "setup.lock"))).toBe(true);
    rmSync(join(sandbox.folder, "hold"));
    const { code, output } = await sandbox.setUp();
    expect(code).toBe(0);
    expect(output).not.toContain("another set-up");
    expect(cached()).toEqual(servers);
  });
});

describe("the pinned modules", () => {
  const modules = {
    toxiproxy: "github.com/Shopify/toxiproxy/v2",
    versitygw: "github.com/versity/versitygw",
    otelcol: "go.opentelemetry.io/collector/receiver/otlpreceiver",
    helm: "helm.sh/helm/v3",
    "helm-unittest": "github.com/helm-unittest/helm-unittest",
    kubeconform: "github.com/yannh/kubeconform",
    promtool: "github.com/prometheus/prometheus",
    kind: "sigs.k8s.io/kind",
    crane: "github.com/google/go-containerregistry",
    cosign: "github.com/sigstore/cosign/v3",
    registry: "github.com/distribution/distribution/v3",
    krew: "sigs.k8s.io/krew",
  };
  const versions = {
    ...testProgramVersions,
    ...storeProgramVersions,
    ...receiverProgramVersions,
    ...checkProgramVersions,
    ...clusterProgramVersions,
    ...releaseProgramVersions,
  };

  test.each(Object.keys(modules) as (keyof typeof modules)[])(
    "tools/%s asks for the pinned version and has its checksum",
    (folder) => {
      const text = (file: string) => readFileSync(join(repository, "tools", folder, file), "utf8");
      expect(text("go.mod")).toContain(`${modules[folder]} ${versions[folder]}\n`);
      expect(text("go.sum")).toContain(`${modules[folder]} ${versions[folder]} h1:`);
    },
  );

  test.each([
    ["go.etcd.io/etcd/server/v3", pinnedVersions.etcd],
    ["k8s.io/kubernetes", pinnedVersions.kubectl],
  ])("tools/control-plane asks for the pinned version of %s and has its checksum", (module, version) => {
    const text = (file: string) => readFileSync(join(repository, "tools/control-plane", file), "utf8");
    expect(text("go.mod")).toContain(`${module} ${version}\n`);
    expect(text("go.sum")).toContain(`${module} ${version} h1:`);
  });

  test.each([
    ["linearizability", testProgramVersions.linearizability, ["go.mod", "go.sum", "main.go", "pool.go"]],
    ["gitops-health", gitOpsProgramVersions["gitops-health"], ["go.mod", "go.sum", "main.go", "script.go"]],
    ["vault-server", vaultProgramVersions["vault-server"], ["go.mod", "go.sum", "main.go"]],
  ])("the pinned version of tools/%s is a digest of its sources", (name, version, files) => {
    const digest = createHash("sha256");
    for (const file of files) digest.update(readFileSync(join(repository, "tools", name, file)));
    expect(version).toBe(digest.digest("hex").slice(0, 8));
  });

  test("kube-apiserver and kubectl have one version", () => {
    expect(pinnedVersions["kube-apiserver"]).toBe(pinnedVersions.kubectl);
  });
});
