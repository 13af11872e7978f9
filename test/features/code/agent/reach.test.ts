/** What code beside a browser can't reach, tried in a pod and in local mode. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacksNamespaces } from "../../../../src/features/code/agent/apart.ts";
import { executorCommand } from "../../../../src/features/code/agent/executor-command.ts";
import { createTestAgents } from "../../../support/agent-process.ts";
import { runWithoutNamespaces } from "../../../support/without-namespaces.ts";
import { type CodeAgent, places, startCodeAgent } from "./code-agent.ts";

const agents = createTestAgents();
afterAll(() => agents[Symbol.asyncDispose]());

/** What attempts need to know; as generous as nobody would be. */
type Known = { pid: number; port: number; host: string; dir: string; files: string; root: string; devTools: number };

const root = join(import.meta.dirname, "../../../..");
const read = (path: string): string => `return require("fs").readFileSync(${JSON.stringify(path)}, "latin1")`;
const connect = (to: string): string =>
  `return await new Promise((resolve, reject) => require("net").connect(${to}).on("connect", () => resolve("connected")).on("error", reject))`;

const denied = /ERR_ACCESS_DENIED|ENOENT/;
const noWay = /ENETUNREACH|EADDRNOTAVAIL|EAI_AGAIN|ECONNREFUSED|ENOENT|EPERM|ENOTFOUND/;

/** What is tried, the code that tries it, and what it is told. */
const attempts: [what: string, code: (known: Known) => string, told: RegExp][] = [
  ["variables of its process", () => read("/proc/self/environ"), denied],
  ["variables of the agent", ({ pid }) => read(`/proc/${pid}/environ`), denied],
  ["memory of the agent", ({ pid }) => read(`/proc/${pid}/mem`), denied],
  ["descriptors of the agent", ({ pid }) => read(`/proc/${pid}/fd/0`), denied],
  ["the agent's view of the files", ({ pid, dir }) => read(`/proc/${pid}/root${dir}/process-groups`), denied],
  ["a file of the agent", ({ dir }) => read(`${dir}/process-groups`), denied],
  ["a file of the agent, by a way around", ({ dir, files }) => read(`${files}/a/../..${dir}/process-groups`), denied],
  [
    "a file of the agent, as bytes",
    ({ dir }) => `return require("fs").readFileSync(Buffer.from("${dir}/process-groups"))`,
    denied,
  ],
  [
    "a file of the agent, as a URL",
    ({ dir }) => `return require("fs").readFileSync(new URL("file://${dir}/process-groups"))`,
    denied,
  ],
  ["what the agent has among the files", ({ files }) => read(`${files}/.agent/policy`), denied],
  [
    "writing what the agent has among the files",
    ({ files }) => `return require("fs").writeFileSync("${files}/.agent/policy", "")`,
    denied,
  ],
  [
    "moving what the agent has among the files",
    ({ files }) => `return require("fs").renameSync("${files}/.agent", "${files}/agent")`,
    denied,
  ],
  [
    "a link to it",
    ({ files }) => `require("fs").symlinkSync("${files}/.agent", "${files}/link"); ${read(`${files}/link/policy`)}`,
    denied,
  ],
  [
    "another name of it",
    ({ files }) => `require("fs").linkSync("${files}/.agent/policy", "${files}/link"); ${read(`${files}/link`)}`,
    denied,
  ],
  ["users of the machine", () => read("/etc/passwd"), denied],
  ["files of the service", ({ root }) => read(`${root}/src/main.ts`), denied],
  [
    "another package",
    ({ root }) => `return Object.keys(require("${root}/node_modules/undici"))`,
    /ERR_ACCESS_DENIED|MODULE_NOT_FOUND/,
  ],
  ["a program", () => `return require("child_process").execFileSync("/usr/bin/id").toString()`, denied],
  ["a fork, as a bomb has it", () => `for (;;) require("child_process").fork("/tmp/x")`, denied],
  ["a worker", () => `new (require("worker_threads").Worker)("1", { eval: true }); return "made"`, denied],
  [
    "an add-on",
    () => `process.dlopen({ exports: {} }, "/tmp/x.node"); return "loaded"`,
    /ERR_DLOPEN_DISABLED|ERR_ACCESS_DENIED/,
  ],
  ["internals of Node", () => `return Object.keys(process.binding("fs"))`, denied],
  ["WASI", () => `new (require("wasi").WASI)({ version: "preview1" }); return "made"`, denied],
  ["an inspector", () => `require("inspector").open(0); return "open"`, denied],
  ["an inspector of itself", () => `new (require("inspector").Session)().connect(); return "connected"`, denied],
  [
    "a heap snapshot in the agent's folder",
    ({ files }) => `return require("v8").writeHeapSnapshot("${files}/.agent/heap")`,
    denied,
  ],
  [
    "a report in the agent's folder",
    ({ files }) => `return process.report.writeReport("${files}/.agent/report")`,
    denied,
  ],
  [
    "a database in the agent's folder",
    ({ files }) => `new (require("sqlite").DatabaseSync)("${files}/.agent/db"); return "made"`,
    /ERR_ACCESS_DENIED|MODULE_NOT_FOUND|Cannot find/,
  ],
  ["variables of a file", ({ files }) => `process.loadEnvFile("${files}/.agent/policy"); return process.env`, denied],
  ["the agent's port", ({ host, port }) => connect(`${port}, "${host}"`), noWay],
  ["DevTools by another connection", ({ devTools }) => connect(`${devTools}, "127.0.0.1"`), noWay],
  ["the internet", () => `return (await fetch("http://1.1.1.1/")).status`, /fetch failed/],
  ["a name", () => `return await require("dns/promises").lookup("example.com")`, noWay],
  [
    "a name server",
    () => `return await new (require("dns/promises").Resolver)({ timeout: 100, tries: 1 }).resolve4("example.com")`,
    /ECONNREFUSED|ETIMEOUT|ENETUNREACH/,
  ],
  [
    "UDP",
    () =>
      `return await new Promise((resolve, reject) => require("dgram").createSocket("udp4").on("error", reject).send("x", 53, "1.1.1.1", (error) => error ? reject(error) : resolve("sent")))`,
    noWay,
  ],
  ["an abstract socket of X", () => connect(`"\\0/tmp/.X11-unix/X0"`), noWay],
  ["the agent's process", ({ pid }) => `process.kill(${pid}, "SIGKILL"); return "killed"`, /ESRCH/],
  ["all processes", () => `process.kill(-1, "SIGKILL"); return "killed"`, /ESRCH/],
  ["another user's number", () => `process.setuid(12345); return process.getuid()`, /EPERM|EINVAL/],
  ["other groups", () => `process.setgroups([12345]); return process.getgroups()`, /EPERM|EINVAL/],
];

describe.each(places)("in a %s", (place) => {
  let held: CodeAgent;
  let known: Known;
  beforeAll(async () => {
    held = await startCodeAgent(agents, place);
    const { agent } = held;
    mkdirSync(join(agent.dir, "tmp", ".agent"));
    writeFileSync(join(agent.dir, "tmp", ".agent", "policy"), "SECRET=1");
    const { hostname, port } = new URL(agent.baseUrl);
    // Without a wall the port of DevTools is in a file of the profile; the test needs only one that nothing inside has.
    known = {
      ...{ pid: agent.child.pid ?? 0, port: Number(port), host: hostname, dir: agent.dir },
      ...{ files: held.files, root, devTools: 9222 },
    };
  });

  // CODE-12
  test.each(attempts)("code does not reach %s", async (_what, codeFor, told) => {
    const code = `const { createRequire } = await import("node:module");
      const require = createRequire("/");
      try { return { reached: await (async () => { ${codeFor(known)} })() } } catch (error) { return { told: [error.code, error.message, error.cause?.code].join(" ") } }`;
    const { result, ...rest } = await held.execute(code, { timeout_sec: 20 });
    expect(result ?? rest).toEqual({ told: expect.stringMatching(told) });
  });

  // CODE-12
  test("it has no variable of the agent, no right, and no descriptor but its own", async () => {
    const code = `const fs = await import("node:fs");
      const ofItself = new Set([0, 2, 3, 4].map((fd) => fs.fstatSync(fd).ino));
      const open = [];
      for (let fd = 5; fd < 200; fd++) {
        try {
          const stat = fs.fstatSync(fd);
          if ((stat.isFile() || stat.isDirectory() || stat.isSocket()) && !ofItself.has(stat.ino)) open.push([fd, stat.mode.toString(8)]);
        } catch {}
      }
      return { open, env: Object.keys(process.env).filter((name) => name !== "PWD"), args: process.argv.length, pid: process.pid };`;
    const { result } = await held.execute(code, { executor: "new" });
    expect(result).toEqual({ open: [], env: ["HOME"], args: 2, pid: expect.any(Number) });
    expect(result.pid).toBeLessThan(10);
  });

  // CODE-12
  test("it reads and writes the files of the session, as the browser does", async () => {
    const code = `const fs = await import("node:fs/promises");
      await fs.mkdir("${held.files}/made/here", { recursive: true });
      await fs.writeFile("${held.files}/made/here/file", "text");
      await page.goto("file://${held.files}/made/here/file");
      return await page.textContent("pre");`;
    expect(await held.execute(code)).toMatchObject({ success: true, result: "text" });
  });
});

// CODE-12
test("in a pod its namespaces alone, without Node's model, keep it from the agent and the network", async () => {
  const { agent } = await startCodeAgent(agents, "pod");
  const { program, args } = executorCommand({ filesDir: "/tmp", ownPorts: undefined });
  const inside = [...args.slice(0, args.indexOf(process.execPath)), "sh", "-c"];
  const pid = agent.child.pid ?? 0;
  const { hostname, port } = new URL(agent.baseUrl);
  const tried = (script: string) => spawnSync(program, [...inside, script], { encoding: "utf8" });
  expect(tried("echo here").stdout).toBe("here\n");
  for (const what of ["environ", "mem", "fd/0", "root/etc/passwd"])
    expect(tried(`cat /proc/${pid}/${what}`)).toMatchObject({
      stdout: "",
      stderr: expect.stringMatching(/denied|permitted/),
    });
  expect(tried(`kill -9 ${pid}`).status).not.toBe(0);
  expect(tried(`exec socat -u OPEN:/dev/null TCP:${hostname}:${port}`).status).not.toBe(0);
  expect(spawnSync("socat", ["-u", "OPEN:/dev/null", `TCP:${hostname}:${port}`]).status).toBe(0);
  expect(tried("grep CapEff /proc/self/status").stdout).toMatch(/CapEff:\s0+\n/);
  expect((await fetch(`${agent.baseUrl}/livez`)).status).toBe(200);
});

// CODE-13
test("where nobody may make namespaces it is refused by name", () => {
  const { program, args } = executorCommand({ filesDir: "/tmp", ownPorts: undefined });
  const { status, stderr } = runWithoutNamespaces(program, args);
  expect(status).not.toBe(0);
  expect(lacksNamespaces(stderr)).toBe(true);
});
