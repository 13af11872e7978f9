import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isAlive } from "../support/processes.ts";
import { createSandbox, eventually, repository, type Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let clone: string;

const lockOf = (version: string): string =>
  JSON.stringify({
    packages: {
      "": { name: "clone" },
      "node_modules/express": { version },
      "node_modules/node": { version: "24.1.0" },
      "node_modules/other-system": { version: "1.0.0", optional: true },
    },
  });

/**
 * An npm that installs what the lock file asks for by writing the files that the real one leaves. The Node package gets
 * its program only from `npm rebuild node`, as where settings forbid install scripts.
 */
const fakeNpm = `echo "$1" >>"$SANDBOX/calls"
if [ -e "$SANDBOX/fail" ]; then echo "npm error no network"; exit 1; fi
mkdir -p node_modules/.bin node_modules/node
echo '{"version":"24.1.0"}' >node_modules/node/package.json
case $1 in
  ci) grep -o '.*' package-lock.json | sed 's/"":[^}]*},//; s/,"node_modules.other-system":{[^}]*}//' >node_modules/.package-lock.json ;;
  rebuild) printf '#!/bin/sh\\necho v24.1.0\\n' >node_modules/.bin/node; chmod 755 node_modules/.bin/node ;;
esac`;

beforeEach(() => {
  sandbox = createSandbox();
  clone = join(sandbox.folder, "clone");
  mkdirSync(clone);
  for (const path of [
    "scripts/setup.mjs",
    "scripts/setup",
    "src/local/locate-programs.mjs",
    "src/local/chromium-places.mjs",
  ])
    cpSync(join(repository, path), join(clone, path), { recursive: true });
  writeFileSync(join(clone, "package-lock.json"), lockOf("5.0.0"));
});
afterEach(() => sandbox.remove());

const setUpPackages = () => sandbox.setUp(["--packages-only"], {}, clone);

test("a fresh clone gets its packages and its own Node, even when npm skips install scripts", async () => {
  sandbox.program("npm", fakeNpm);
  expect((await setUpPackages()).code).toBe(0);
  expect(sandbox.lines("calls")).toEqual(["ci", "rebuild"]);
  expect(await setUpPackages()).toEqual({ code: 0, output: "" });
});

test("packages are installed again when package-lock.json asks for another version", async () => {
  sandbox.program("npm", fakeNpm);
  await setUpPackages();
  writeFileSync(join(clone, "package-lock.json"), lockOf("5.0.1"));
  expect((await setUpPackages()).code).toBe(0);
  expect(sandbox.lines("calls")).toEqual(["ci", "rebuild", "ci"]);
});

test("a failed npm ci is reported with npm's own output and what to do, and the next run repeats it", async () => {
  sandbox.program("npm", fakeNpm);
  writeFileSync(join(sandbox.folder, "fail"), "");
  const { code, output } = await setUpPackages();
  expect(code).toBe(1);
  expect(output).toContain("| npm error no network");
  expect(output).toContain("run again");
  sandbox.program("npm", fakeNpm.replace("$SANDBOX/fail", "$SANDBOX/none"));
  expect((await setUpPackages()).code).toBe(0);
});

test("an npm that goes on after SIGTERM is killed by an interrupt, and the next run begins anew", async () => {
  sandbox.program("npm", `trap "" TERM; echo $$ >"$SANDBOX/pid"; while :; do sleep 0.1; done`);
  const run = sandbox.start(["--packages-only"], {}, clone);
  await eventually(() => sandbox.lines("pid").length > 0);
  run.child.kill("SIGINT");
  expect((await run.ended).code).toBe(130);
  expect(await isAlive(Number(sandbox.lines("pid")[0]))).toBe(false);
  sandbox.program("npm", fakeNpm);
  expect((await setUpPackages()).code).toBe(0);
});

test("a machine without npm is told to install it", async () => {
  const { code, output } = await setUpPackages();
  expect(code).toBe(1);
  expect(output).toContain("npm is missing");
});

test("a Node that does not run is reported as an error of the set-up", async () => {
  sandbox.program("npm", fakeNpm.replace("echo v24.1.0", "exit 127"));
  const { code, output } = await setUpPackages();
  expect(code).toBe(1);
  expect(output).toContain("npm rebuild node --ignore-scripts=false");
});
