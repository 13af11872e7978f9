/** `browserpool doctor` on machines that lack something: each has a PATH, a cache and a data directory of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { machineChecks } from "../../src/cli/doctor/machine.ts";
import { cachedProgramPath } from "../../src/local/locate-programs.mjs";
import { createSandbox, repository, type Sandbox } from "../setup/sandbox.ts";

const main = join(repository, "src/main.ts");

let sandbox: Sandbox;
let dataDir: string;
beforeEach(async () => {
  sandbox = createSandbox();
  dataDir = join(sandbox.folder, "data");
  await mkdir(dataDir);
  for (const name of ["redis-server", "chromium", "chromium-headless-shell", "ffmpeg", "chromedriver"])
    sandbox.program(name, 'echo "program version 156.0.1"');
  for (const name of ["etcd", "kube-apiserver", "kubectl"] as const)
    sandbox.script(cachedProgramPath(name, sandbox.env), `echo "${name} v1.37.2"`);
  for (const name of ["bwrap", "unshare", "ip", "socat", "fc-list", "sh", "mount", "true"]) sandbox.link(name);
});
afterEach(() => sandbox.remove());

type Told = { code: number | null; findings: Finding[] };

/** What it tells as JSON. `before`: a shell command in a user and a mount namespace of its own, before doctor. */
const doctor = async (args: string[] = [], env: Record<string, string> = {}, before?: string): Promise<Told> => {
  const command = [process.execPath, main, "doctor", "--data-dir", dataDir, "-o", "json", ...args];
  const [program = "", ...rest] = before
    ? ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", `${before} && exec "$@"`, "sh", ...command]
    : command;
  const child = spawn(program, rest, { env: { ...sandbox.env, ...env }, timeout: 60_000 });
  const [[code], out, err] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  expect(err).toBe("");
  return { code: code as number | null, findings: JSON.parse(out) as Finding[] };
};

/** What is wrong, and the exit code. */
const wrong = async (...given: Parameters<typeof doctor>): Promise<[number | null, Finding[]]> => {
  const { code, findings } = await doctor(...given);
  return [code, findings.filter(({ state }) => state === "problem" || state === "warning")];
};

test("a whole machine has nothing wrong, and the table says so", async () => {
  expect(await wrong(["--port", "0"])).toEqual([0, []]);
  const child = spawn(process.execPath, [main, "doctor", "--data-dir", dataDir, "--port", "0"], { env: sandbox.env });
  const [out] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(out).toMatch(/^ok +Redis +156\.0\.1 \(.*\/redis-server\)$/m);
  expect(out).toMatch(/\n0 problems, 0 warnings, \d+ ok\n$/);
});

describe("a machine", () => {
  test("without Redis has a problem", async () => {
    const env = { BROWSERPOOL_REDIS_SERVER: "/none" };
    const [code, found] = await wrong(["--port", "0"], env);
    expect(code).toBe(1);
    expect(found).toEqual([
      {
        name: "Redis",
        state: "problem",
        says: "not found",
        wayOut: expect.stringContaining("BROWSERPOOL_REDIS_SERVER"),
      },
    ]);
  });

  test("whose Redis does not run is told what it says", async () => {
    sandbox.program("redis-server", "echo libssl.so.3 is missing >&2; exit 127");
    const [code, found] = await wrong(["--port", "0"]);
    expect(code).toBe(1);
    expect(found).toMatchObject([
      { name: "Redis", says: expect.stringMatching(/does not run: libssl\.so\.3 is missing$/) },
    ]);
  });

  test("without servers of Kubernetes has problems", async () => {
    await rm(join(sandbox.cache, "bin"), { recursive: true });
    const [code, found] = await wrong(["--port", "0"]);
    expect(code).toBe(1);
    expect(found.map(({ name, state }) => [name, state])).toEqual([
      ["etcd", "problem"],
      ["kube-apiserver", "problem"],
      ["kubectl", "warning"],
    ]);
  });

  test("without Chromium has a problem", async () => {
    const env = { BROWSERPOOL_CHROMIUM: "/none", BROWSERPOOL_CHROMIUM_HEADLESS: "/none" };
    const [code, found] = await wrong(["--port", "0"], env);
    expect(code).toBe(1);
    expect(found.map(({ name, state }) => [name, state])).toEqual([
      ["Chromium", "warning"],
      ["headless Chromium", "problem"],
    ]);
  });

  test("with an old Chromium is warned", async () => {
    sandbox.program("chromium", "echo Chromium 120.0.6099.71");
    expect(await wrong(["--port", "0"])).toMatchObject([
      0,
      [{ name: "Chromium", state: "warning", says: expect.stringContaining("120.0.6099.71 lacks fixes") }],
    ]);
  });

  // WDC-10
  test("without chromedriver is warned that there is no WebDriver over HTTP", async () => {
    await rm(join(sandbox.bin, "chromedriver"));
    const found = { name: "chromedriver", says: "not found: no WebDriver over HTTP" };
    expect(await wrong(["--port", "0"])).toMatchObject([0, [found]]);
  });

  test("without ffmpeg is warned that there are no recordings", async () => {
    await rm(join(sandbox.bin, "ffmpeg"));
    expect(await wrong(["--port", "0"])).toMatchObject([0, [{ name: "ffmpeg", says: "not found: no recordings" }]]);
  });

  test("without bubblewrap is warned what browsers share", async () => {
    await rm(join(sandbox.bin, "bwrap"));
    expect(await wrong(["--port", "0"])).toMatchObject([
      0,
      [{ name: "namespaces", state: "warning", wayOut: expect.stringMatching(/^bwrap not found/) }],
    ]);
  });

  test("that allows no user namespaces is told how to allow them", async () => {
    const [code, found] = await wrong(["--port", "0"], {}, "echo 0 >/proc/sys/user/max_user_namespaces");
    expect(code).toBe(0);
    expect(found).toMatchObject([
      { name: "namespaces", wayOut: expect.stringContaining("sudo sysctl -w user.max_user_namespaces=15000") },
    ]);
  });

  test("with a full disk has a problem", async () => {
    const [code, found] = await wrong(["--port", "0"], {}, `mount -t tmpfs -o size=1m none ${dataDir}`);
    expect(code).toBe(1);
    expect(found).toMatchObject([
      { name: "disk", state: "problem", says: expect.stringMatching(/^0\.0 GiB free for/) },
    ]);
  });

  test("whose port is taken is told by which program", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const [code, found] = await wrong(["--port", String(port)]);
    server.close();
    expect(code).toBe(0);
    expect(found).toMatchObject([{ name: `port ${port}`, says: `taken by node (process ${process.pid})` }]);
  });

  test("whose service does not answer has a problem", async () => {
    const connection = { url: "http://127.0.0.1:3", api_key: "k", kubeconfig: "", redis_url: "", pid: 1 };
    await writeFile(join(dataDir, "local.json"), JSON.stringify(connection));
    const [code, found] = await wrong(["--port", "0"]);
    expect(code).toBe(1);
    expect(found).toMatchObject([
      { name: "service", says: expect.stringContaining("http://127.0.0.1:3 does not answer") },
    ]);
  });

  test("whose clock is behind its files has a problem", async () => {
    const product = await mkdtemp(join(tmpdir(), "product-"));
    await writeFile(join(product, "package.json"), "{}");
    await utimes(join(product, "package.json"), new Date(), new Date(Date.now() + 3_600_000));
    const checks = await machineChecks({ dataDir, apiPort: 0, product });
    const found = await checks.find(({ name }) => name === "clock")?.find(new AbortController().signal);
    expect(found).toMatchObject({ state: "problem", says: expect.stringContaining("files here are newer") });
    await rm(product, { recursive: true });
  });
});
