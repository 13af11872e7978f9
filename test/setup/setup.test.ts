import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSandbox, fakeGo, repository, type Sandbox, systemPrograms } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

const giveControlPlane = (): Record<string, string> => {
  const assets = join(sandbox.folder, "assets");
  for (const name of ["etcd", "kube-apiserver", "kubectl"]) sandbox.script(join(assets, name), "exit 0");
  return { KUBEBUILDER_ASSETS: assets };
};

describe("set-up of a complete machine", () => {
  test("prints nothing, exits with 0 and leaves no trace", async () => {
    for (const name of systemPrograms) sandbox.program(name);
    expect(await sandbox.setUp([], giveControlPlane())).toEqual({ code: 0, output: "" });
    expect(existsSync(sandbox.cache)).toBe(false);
  });

  test("with --packages-only checks only packages", async () => {
    expect(await sandbox.setUp(["--packages-only"])).toEqual({ code: 0, output: "" });
  });
});

describe("set-up of the robustness tests", () => {
  test("continues without what it can't install, and says so", async () => {
    for (const name of systemPrograms) sandbox.program(name);
    const { code, output } = await sandbox.setUp(["--robustness"], giveControlPlane());
    expect(code).toBe(0);
    expect(output).toContain("going on without faketime: faketime is missing");
    expect(output).toContain("going on without toxiproxy, linearizability: ");
  });

  test("builds its programs when there is Go", async () => {
    for (const name of [...systemPrograms, "faketime"]) sandbox.program(name);
    fakeGo(sandbox);
    const { code, output } = await sandbox.setUp(["--robustness"], giveControlPlane());
    expect(code).toBe(0);
    expect(output).not.toContain("without");
    expect(await sandbox.setUp(["--robustness"], giveControlPlane())).toEqual({ code: 0, output: "" });
  });
});

test("set-up of the check continues without what it can't install, and says so", async () => {
  const { code, output } = await sandbox.setUp(["--check"]);
  expect(code).toBe(0);
  expect(output).toContain("going on without helm, helm-unittest, kubeconform, promtool, actionlint: ");
});

test("set-up of the API's document continues without Schemathesis, and says what is missing", async () => {
  for (const name of systemPrograms) sandbox.program(name);
  const { code, output } = await sandbox.setUp(["--openapi"], giveControlPlane());
  expect(code).toBe(0);
  expect(output).toContain("going on without schemathesis: python3 is missing");
});

describe("set-up that can't continue", () => {
  test("names every missing program once when there is no apt-get", async () => {
    sandbox.program("Xvfb");
    const { code, output } = await sandbox.setUp([], giveControlPlane());
    expect(code).toBe(2);
    expect(output).toContain(
      "redis-server, chromium, chromium-headless-shell, socat, ip, bwrap, ffmpeg, chromedriver are missing",
    );
    expect(existsSync(sandbox.cache)).toBe(false);
    expect(output.match(/failed/g)).toHaveLength(1);
    expect(output).not.toContain("Xvfb");
    expect(output).not.toContain("    at "); // no stack trace
  });

  test("names a program whose override points to no program", async () => {
    for (const name of systemPrograms) sandbox.program(name);
    const more = { ...giveControlPlane(), BROWSERPOOL_CHROMIUM: join(sandbox.folder, "no-such-file") };
    const { code, output } = await sandbox.setUp([], more);
    expect(code).toBe(2);
    expect(output).toContain("chromium is missing");
    expect(output).toContain("BROWSERPOOL_CHROMIUM");
  });

  test("goes on without programs that somebody leaves out, but never without Redis", async () => {
    for (const name of ["chromium-headless-shell", "ip", "socat", "bwrap"]) sandbox.program(name);
    const more = { ...giveControlPlane(), BROWSERPOOL_WITHOUT: "redis-server,ffmpeg,Xvfb,chromium,chromedriver" };
    const { code, output } = await sandbox.setUp([], more);
    expect(code).toBe(2);
    expect(output).toContain("redis-server is missing");
    sandbox.program("redis-server");
    expect(await sandbox.setUp([], more)).toEqual({ code: 0, output: "" });
  });

  test("says what to install when there is no Go, no download and no apt-get", async () => {
    for (const name of systemPrograms) sandbox.program(name);
    const { code, output } = await sandbox.setUp();
    expect(code).toBe(1);
    expect(output).toMatch(/Go 1\.26\.\d+ can't be downloaded: fetch failed .*ECONNREFUSED 127\.0\.0\.1:3/);
    expect(output).toContain("KUBEBUILDER_ASSETS");
    expect(existsSync(join(sandbox.cache, "setup.lock"))).toBe(false);
  });

  test("names the cache that it can't write to, and the way out", async () => {
    for (const name of systemPrograms) sandbox.program(name);
    const file = sandbox.script(join(sandbox.folder, "a-file"), "exit 0");
    const { code, output } = await sandbox.setUp([], { BROWSERPOOL_CACHE_DIR: join(file, "cache") });
    expect(code).toBe(2);
    expect(output).toMatch(/failed: \S+\/a-file\/cache can't be written to: ENOTDIR/);
    expect(output).toContain("Set BROWSERPOOL_CACHE_DIR");
    expect(output).not.toContain("    at "); // no stack trace
  });

  test("refuses an unknown argument", async () => {
    const { code, output } = await sandbox.setUp(["--package-only"]);
    expect(code).toBe(1);
    expect(output).toContain("unknown argument --package-only");
  });
});

test("--help says what is installed and exits with 0", async () => {
  const { code, output } = await sandbox.setUp(["--help"]);
  expect(code).toBe(0);
  expect(output).toContain("usage: node scripts/setup.mjs");
});

test("the scripts of package.json run the set-up first", () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  expect(scripts.start).toMatch(/^node scripts\/setup\.mjs && /);
  expect(scripts.test).toMatch(/^node scripts\/setup\.mjs --tests && /);
});
