import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installDebianPackages } from "../../scripts/setup/debian-packages.mjs";
import { createProgress } from "../../scripts/setup/progress.mjs";
import { createToolRunner } from "../../scripts/setup/run-tool.mjs";
import { createSandbox, type Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

/**
 * Notes each call, and runs the policy as Debian's tools do before they start a service. `fail` makes one installation
 * fail.
 */
const fakeApt = `echo "apt-get $* ($DEBIAN_FRONTEND)" >>"$SANDBOX/calls"
case "$*" in *install*)
  if [ -e "$SANDBOX/fail" ]; then rm "$SANDBOX/fail"; echo "E: Unable to locate package redis-server"; exit 100; fi
  "$SANDBOX/policy-rc.d" redis-server start; echo $? >>"$SANDBOX/policy-answers" ;;
esac`;

beforeEach(() => {
  sandbox = createSandbox();
  mkdirSync(sandbox.cache);
  sandbox.program("apt-get", fakeApt);
  sandbox.program("dpkg", `echo "dpkg $*" >>"$SANDBOX/calls"`);
});
afterEach(() => sandbox.remove());

const policyFile = () => join(sandbox.folder, "policy-rc.d");

const install = (programs: string[]): Promise<void> =>
  installDebianPackages(programs, {
    env: sandbox.env,
    progress: createProgress({ write: () => true }),
    run: createToolRunner({ logFile: join(sandbox.cache, "setup.log"), signal: new AbortController().signal }),
    policyFile: policyFile(),
  });

describe.skipIf(process.getuid?.() !== 0)("installing Debian packages (only root may)", () => {
  test("installs only what is missing, without questions", async () => {
    await install(["redis-server", "Xvfb"]);
    expect(sandbox.lines("calls")).toEqual([
      "apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends redis-server xvfb (noninteractive)",
    ]);
  });

  test("starts no service, and restores the machine's policy", async () => {
    await install(["redis-server"]);
    expect(sandbox.lines("policy-answers")).toEqual(["101"]);
    expect(existsSync(policyFile())).toBe(false);
  });

  test("keeps a policy of the machine's own", async () => {
    sandbox.script(policyFile(), "exit 104");
    const before = readFileSync(policyFile(), "utf8");
    await install(["redis-server"]);
    expect(sandbox.lines("policy-answers")).toEqual(["104"]);
    expect(readFileSync(policyFile(), "utf8")).toBe(before);
  });

  test("a policy of a killed set-up forbids nothing any more, and the next set-up removes it", async () => {
    sandbox.program("apt-get", `cp "$SANDBOX/policy-rc.d" "$SANDBOX/copy"`);
    await install(["redis-server"]);
    const ended = spawnSync(process.execPath, ["--version"]).pid;
    const left = readFileSync(join(sandbox.folder, "copy"), "utf8").replace(`${process.pid}`, `${ended}`);
    writeFileSync(policyFile(), left, { mode: 0o755 });
    expect(execFileSync(policyFile()).toString()).toBe(""); // exit code 0: allowed
    sandbox.program("apt-get", fakeApt);
    await install(["redis-server"]);
    expect(sandbox.lines("policy-answers")).toEqual(["101"]);
    expect(existsSync(policyFile())).toBe(false);
  });

  test("repairs missing package lists and an interrupted dpkg once", async () => {
    writeFileSync(join(sandbox.folder, "fail"), "");
    await install(["redis-server"]);
    const calls = sandbox.lines("calls").map((line) => line.replace("-o DPkg::Lock::Timeout=120 ", "").split(" ", 2));
    expect(calls).toEqual([
      ["apt-get", "install"],
      ["dpkg", "--configure"],
      ["apt-get", "update"],
      ["apt-get", "install"],
    ]);
  });

  test("a failed installation names the commands, and removes the policy too", async () => {
    sandbox.program("apt-get", "echo 'E: no space left'; exit 100");
    const failed = await install(["chromium"]).catch((error) => error);
    expect(failed.wayOut).toContain("apt-get install -y --no-install-recommends chromium");
    expect(failed.logTail).toEqual(["E: no space left"]);
    expect(existsSync(policyFile())).toBe(false);
  });
});
