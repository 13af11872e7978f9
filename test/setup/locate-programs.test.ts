import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isAtLeast } from "../../scripts/setup/go.mjs";
import { chromiumPlaces } from "../../src/local/chromium-places.mjs";
import { cacheDir, cachedProgramPath, locatePrograms } from "../../src/local/locate-programs.mjs";
import { createSandbox, type Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

const kubectlOf = (version: string) => sandbox.program("kubectl", `echo "Client Version: ${version}"`);

test("nothing is found on an empty machine", () => {
  expect(Object.values(locatePrograms(sandbox.env)).filter(Boolean)).toEqual([]);
});

test("a folder of assets is used when it is complete and skipped when it is not", () => {
  const assets = join(sandbox.folder, "assets");
  const env = { ...sandbox.env, KUBEBUILDER_ASSETS: assets };
  const etcd = sandbox.script(join(assets, "etcd"), "exit 0");
  sandbox.script(join(assets, "kube-apiserver"), "exit 0");
  expect(locatePrograms(env).etcd).toBeUndefined();
  const kubectl = sandbox.script(join(assets, "kubectl"), "exit 0");
  expect(locatePrograms(env)).toMatchObject({ etcd, kubectl });
});

test("a kubectl on PATH is used from version 1.35 on", () => {
  kubectlOf("v1.34.9");
  expect(locatePrograms(sandbox.env).kubectl).toBeUndefined();
  const path = kubectlOf("v1.35.4-dispatcher");
  expect(locatePrograms(sandbox.env).kubectl).toBe(path);
});

test("the pinned kubectl is preferred to the one on PATH", () => {
  kubectlOf("v1.40.0");
  const pinned = sandbox.script(cachedProgramPath("kubectl", sandbox.env), "exit 0");
  expect(locatePrograms(sandbox.env).kubectl).toBe(pinned);
});

test("an override is preferred to PATH, and finds nothing when its file is not a program", () => {
  sandbox.program("redis-server");
  const own = sandbox.script(join(sandbox.folder, "own", "redis"), "exit 0");
  const withOverride = (path: string) =>
    locatePrograms({ ...sandbox.env, BROWSERPOOL_REDIS_SERVER: path })["redis-server"];
  expect(withOverride(own)).toBe(own);
  expect(withOverride(sandbox.folder)).toBeUndefined();
});

describe("Chromium", () => {
  const found = (env: Record<string, string> = {}) => {
    const programs = locatePrograms({ ...sandbox.env, ...env });
    return [programs.chromium, programs["chromium-headless-shell"]];
  };

  test("of PATH is preferred to what other tools have downloaded", () => {
    const home = join(sandbox.folder, "home");
    const testing = sandbox.script(join(home, ".cache/puppeteer/chrome/linux-99.0.1/chrome-linux64/chrome"), "exit 0");
    expect(found()).toEqual([testing, testing]);
    const newer = sandbox.script(join(home, ".cache/puppeteer/chrome/linux-156.0.1/chrome-linux64/chrome"), "exit 0");
    expect(found()).toEqual([newer, newer]);
    const shell = sandbox.script(
      join(home, ".cache/ms-playwright/chromium_headless_shell-1300/chrome-linux/headless_shell"),
      "exit 0",
    );
    expect(found()).toEqual([newer, shell]);
    const chrome = sandbox.program("google-chrome");
    expect(found()).toEqual([chrome, shell]);
    const [chromium, debianShell] = [sandbox.program("chromium"), sandbox.program("chromium-headless-shell")];
    expect(found()).toEqual([chromium, debianShell]);
  });

  test("of a variable is the only one that is taken", () => {
    const chromium = sandbox.program("chromium");
    const own = sandbox.script(join(sandbox.folder, "own/chrome"), "exit 0");
    expect(found({ BROWSERPOOL_CHROMIUM: own })).toEqual([own, own]);
    expect(found({ BROWSERPOOL_CHROMIUM: "/none" })).toEqual([undefined, undefined]);
    expect(found({ BROWSERPOOL_CHROMIUM_HEADLESS: own })).toEqual([chromium, own]);
    expect(found({ BROWSERPOOL_CHROMIUM_HEADLESS: "/none" })).toEqual([chromium, undefined]);
  });

  test("has its places on each system", () => {
    expect(chromiumPlaces({ platform: "linux", home: "/h" }, "browser")).toContain("/snap/bin/chromium");
    expect(chromiumPlaces({ platform: "darwin", home: "/h" }, "browser")).toContain(
      "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    );
    expect(chromiumPlaces({ platform: "darwin", home: "/h" }, "shell")[1]).toMatch(
      /^\/h\/Library\/Caches\/ms-playwright/,
    );
  });
});

test("the cache is in the folder of the variable, else in the user's cache folder", () => {
  expect(cacheDir({ BROWSERPOOL_CACHE_DIR: "/a" })).toBe("/a");
  expect(cacheDir({ XDG_CACHE_HOME: "/b", HOME: "/c" })).toBe("/b/browserpool");
  expect(cacheDir({ HOME: "/c" })).toBe("/c/.cache/browserpool");
});

test("versions of Go are compared by number", () => {
  expect(isAtLeast("go1.9.7", "1.24.0")).toBe(false);
  expect(isAtLeast("go1.24", "1.24.0")).toBe(true);
  expect(isAtLeast("go1.26rc1", "1.24.0")).toBe(true);
  expect(isAtLeast("go1.24.0", "1.24.3")).toBe(false);
});
