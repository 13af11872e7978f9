/** What a process beside a browser can't reach, tried in a pod and in local mode. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { chown } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacksNamespaces } from "../../../../src/features/code/agent/apart.ts";
import { processCommand } from "../../../../src/features/processes/agent/process-command.ts";
import { createTestAgents } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { runWithoutNamespaces } from "../../../support/without-namespaces.ts";
import { type ProcessAgent, places, startProcessAgent } from "./process-agent.ts";

const agents = createTestAgents();
afterAll(() => agents[Symbol.asyncDispose]());

/** What attempts need to know; as generous as nobody would be. */
type Known = { pid: number; browser: number; port: number; host: string; dir: string; files: string; other: string };

const root = join(import.meta.dirname, "../../../..");

const perl = (script: string): string => `perl -MSocket -MFcntl -e '${script} or die "told: $!\\n"; print "reached"'`;
const dial = (host: string, port: number): string =>
  perl(`socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in(${port}, inet_aton("${host}")))`);

const noFile = /Permission denied|No such file|cannot open|cannot create|Operation not permitted|cross-device/;
const noWay = /Network is unreachable|Cannot assign|Connection refused/;

/** What is tried, the command that tries it and writes only if it succeeds, and what it is told. */
const attempts: [what: string, command: (known: Known) => string, told: RegExp][] = [
  ["variables of the agent", ({ pid }) => `cat /proc/${pid}/environ`, noFile],
  [
    "variables of the agent, by its parents",
    () => `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep BROWSERPOOL`,
    /^$|denied|No such file/,
  ],
  ["memory of the agent", ({ pid }) => `head -c 1 /proc/${pid}/mem`, noFile],
  ["memory of the browser", ({ browser }) => `head -c 1 /proc/${browser}/mem`, noFile],
  ["descriptors of the agent", ({ pid }) => `ls /proc/${pid}/fd/`, noFile],
  ["a pipe of DevTools", ({ browser }) => `echo > /proc/${browser}/fd/3 && echo wrote`, noFile],
  ["the agent's view of the files", ({ pid, dir }) => `cat /proc/${pid}/root${dir}/process-groups`, noFile],
  ["tracing the agent", ({ pid }) => perl(`syscall(101, 16, ${pid}, 0, 0) == 0`), /told: /],
  ["memory of the agent by a call", ({ pid }) => perl(`syscall(310, ${pid}, 0, 0, 0, 0, 0) == 0 && 0`), /told: /],
  ["a file of the agent", ({ dir }) => `cat ${dir}/process-groups`, noFile],
  ["the profile of the browser", ({ dir }) => `cat ${dir}/browser-*/*/*`, noFile],
  ["users of the machine", () => "cat /etc/passwd", noFile],
  ["files of the service", () => `cat ${root}/src/main.ts`, noFile],
  ["files of another session", ({ other }) => `cat ${other}/secret`, noFile],
  [
    "the system's programs, to change them",
    () => "unshare --user --map-root-user --mount sh -c 'mount -o remount,bind,rw /usr && touch /usr/x && echo wrote'",
    /permi|denied|read-only/i,
  ],
  ["the agent's port", ({ host, port }) => dial(host, port), noWay],
  ["DevTools", () => dial("127.0.0.1", 9222), noWay],
  ["metadata of a cloud", () => dial("169.254.169.254", 80), noWay],
  ["an address of a cluster", () => dial("10.96.0.1", 443), noWay],
  ["the internet", () => dial("1.1.1.1", 443), noWay],
  ["a name", () => perl(`inet_aton("example.com")`), /told: /],
  [
    "UDP",
    () => perl(`socket(S, AF_INET, SOCK_DGRAM, 0) && connect(S, pack_sockaddr_in(53, inet_aton("1.1.1.1")))`),
    noWay,
  ],
  [
    "an abstract socket of X",
    () => perl(`socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack("Sxa*", AF_UNIX, "/tmp/.X11-unix/X0"))`),
    /told: /,
  ],
  [
    "a socket of the agent",
    ({ dir }) => perl(`socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un("${dir}/socket"))`),
    /told: /,
  ],
  ["the agent's process", ({ pid }) => `kill -9 ${pid} && echo killed`, /No such process/],
  ["the browser's process", ({ browser }) => `kill -9 ${browser} && echo killed`, /No such process/],
  ["another user's number", () => perl(`($< = 12345, $< == 12345)[1]`), /told: /],
  ["rights", () => `setpriv --inh-caps=+all true && echo got`, /./],
  ["a higher bound", () => "ulimit -u 100000 && echo got", /./],
];

/** In a pod the agent's folder is one of the session's, and /proc that of the pod. */
const inPod: typeof attempts = [
  ["a higher place when memory runs out", () => "choom --adjust 0 -- echo got", /./],
  ["what the agent has among the files", ({ files }) => `cat ${files}/.agent/policy`, noFile],
  ["names of what the agent has there", ({ files }) => `ls ${files}/.agent`, noFile],
  ["writing there", ({ files }) => `echo 1 > ${files}/.agent/policy && echo wrote`, noFile],
  ["writing a new file there", ({ files }) => `echo 1 > ${files}/.agent/new && echo wrote`, noFile],
  ["cutting it to nothing", ({ files }) => perl(`truncate("${files}/.agent/policy", 0)`), /told: /],
  ["opening it to others", ({ files }) => `chmod 777 ${files}/.agent && echo changed`, noFile],
  ["moving it", ({ files }) => `mv ${files}/.agent ${files}/work/agent && echo moved`, noFile],
  ["moving its file", ({ files }) => `mv ${files}/.agent/policy ${files}/work/ && echo moved`, noFile],
  ["deleting it", ({ files }) => `rm -rf ${files}/.agent && echo deleted`, noFile],
  ["another name of it", ({ files }) => `ln ${files}/.agent/policy link && cat link`, noFile],
  ["a link to it", ({ files }) => `ln -sfn ${files}/.agent here && cat here/policy`, noFile],
];

describe.each(places)("in a %s", (place) => {
  let held: ProcessAgent;
  let known: Known;
  let socket: Server;
  beforeAll(async () => {
    held = await startProcessAgent(agents, place);
    const { agent } = held;
    const other = await startProcessAgent(agents, place);
    const own = join(agent.dir, "tmp", ".agent");
    mkdirSync(own);
    writeFileSync(join(own, "policy"), "SECRET=1");
    const { uid } = (await import("node:fs")).statSync(agent.dir);
    for (const path of [own, join(own, "policy")]) await chown(path, uid, uid);
    await other.sh(`echo secret > ${other.files}/work/secret`);
    socket = createServer(() => undefined).listen(join(agent.dir, "socket"));
    await chown(join(agent.dir, "socket"), uid, uid).catch(() => undefined);
    const { hostname, port } = new URL(agent.baseUrl);
    known = {
      ...{ pid: agent.child.pid ?? 0, port: Number(port), host: hostname, dir: agent.dir, files: held.files },
      ...{ browser: agent.groups()[0] ?? 0, other: join(other.agent.dir, "tmp", "work") },
    };
    await eventually("the socket is there", () => existsSync(join(agent.dir, "socket")));
  });
  afterAll(() => socket?.close());

  // PROC-10
  test.each(place === "pod" ? [...attempts, ...inPod] : attempts)(
    "a process does not reach %s",
    async (_what, commandFor, told) => {
      const { out, err } = await held.sh(commandFor(known), { timeout_sec: 20 });
      expect(out).toBe("");
      expect(err).toMatch(told);
      expect(readFileSync(join(held.agent.dir, "tmp/.agent/policy"), "utf8")).toBe("SECRET=1");
    },
  );

  // PROC-10
  test("it has no right, no descriptor but its own, and no way to get rights", async () => {
    const { out } = await held.sh(
      `perl -e 'open(F, "<&=", $_) and print "$_ " for 0 .. 200; print syscall(157, 39, 0, 0, 0, 0)'`,
    );
    expect(out).toBe("0 1 2 1");
    const id = await held.spawn("sleep 98761");
    const found = await eventually("it runs", () =>
      readdirSync("/proc").find((name) => {
        try {
          return readFileSync(`/proc/${name}/cmdline`, "latin1").startsWith("sleep\x0098761");
        } catch {
          return false;
        }
      }),
    );
    const status = readFileSync(`/proc/${found}/status`, "utf8");
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"]) expect(status).toMatch(new RegExp(`${set}:\\s0+\n`));
    expect(status).toMatch(/NoNewPrivs:\s1\n/);
    expect(readFileSync(`/proc/${found}/oom_score_adj`, "utf8")).toBe("1000\n");
    // No argument of a program on the way says what runs.
    expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toMatch(/minder.*98761/);
    await held.value("POST", `process/${id}/kill`, { signal: "KILL" });
  });

  // PROC-10
  test("it reads and writes the files of the session, as the browser does", async () => {
    await held.sh("echo text > made; mkdir -p deep/er; mv made deep/er/; cat deep/er/made >> /tmp/downloads/x || true");
    const browser = await held.agent.connect("s-1");
    const page = await browser.newPage();
    await page.goto(`file://${held.files}/work/deep/er/made`);
    expect(await page.$eval("pre", ({ textContent }) => textContent)).toBe("text\n");
    await browser.disconnect();
    const read = await held.call("GET", "fs/list_files?path=/tmp/work/deep/er");
    expect(read.body.answer).toMatchObject([{ name: "made" }]);
  });
});

// PROC-11
test("where nobody may make namespaces it is refused by name", () => {
  const { program, args } = processCommand({ filesDir: "/tmp", ownPorts: undefined });
  const { status, stderr } = runWithoutNamespaces(program, args);
  expect(status).not.toBe(0);
  expect(lacksNamespaces(stderr)).toBe(true);
});

// PROC-1, PROC-11
test("an agent without the setting, and one of root, refuse each call by name and start nothing", async () => {
  const off = await startProcessAgent(agents, "pod", { env: { BROWSERPOOL_PROCESSES: "false" } });
  const calls = [
    ["POST", "process/exec", { command: "true" }],
    ["POST", "process/spawn", { command: "true" }],
    ["GET", "process/x/status"],
    ["POST", "process/x/stdin", { data_b64: "" }],
    ["POST", "process/x/resize", { cols: 1, rows: 1 }],
    ["POST", "process/x/kill", { signal: "TERM" }],
  ] as const;
  for (const [method, path, body] of calls)
    expect(await off.call(method, path, body)).toMatchObject({
      status: 400,
      body: { code: "not_supported_here", message: expect.stringContaining("processes are off") },
    });
  expect(existsSync(join(off.agent.dir, "tmp/work"))).toBe(false);
  if (process.getuid?.() !== 0) return;
  const root = await startProcessAgent(agents, "pod", { user: 0 });
  expect(await root.call("POST", "process/exec", { command: "true" })).toMatchObject({
    status: 400,
    body: { code: "not_supported_here", message: expect.stringContaining("as root") },
  });
  expect(spawnSync("true").status).toBe(0);
});
