import { type ChildProcess, spawn } from "node:child_process";
import { createHash, createSecretKey, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import puppeteer, { type Browser } from "puppeteer-core";
import { WebSocket } from "ws";
import type { z } from "zod";
import {
  type AgentState,
  type BindLease,
  type BrowserConfig,
  type Reuse,
  sessionHeader,
  Termination,
} from "../../src/core/protocol/agent-api.ts";
import { writeAgentKey } from "../../src/core/protocol/agent-key.ts";
import { createAgentTokens } from "../../src/core/protocol/agent-token.ts";
import type { BrowserSetup } from "../../src/core/protocol/browser-setup.ts";
import { sealStream, sealText } from "../../src/core/protocol/sealed-bytes.ts";
import { hostPort } from "../../src/platform/base/host-port.ts";
import { endAtHomeIn } from "../../src/platform/process/marked-processes.ts";
import { killRecordedGroups } from "../../src/platform/process/process-groups.ts";
import { loopbackAddress } from "./loopback-address.ts";

const entry = fileURLToPath(new URL("agent-entry.ts", import.meta.url));
const port = 7510;
const readyWithinMs = 40_000;

export type Answer = { status: number; body: { code?: string; message?: string } & Partial<AgentState> };

export type TestAgent = {
  podUid: string;
  privateKey: KeyObject;
  agentKey: KeyObject;
  /** The agent's folder, like a pod's. */
  dir: string;
  groupsFile: string;
  child: ChildProcess;
  baseUrl: string;
  /** What the agent logged so far. */
  log(): string;
  /** The leaders of the browser's process groups. */
  groups(): number[];
  /** A call with a valid token, or with `token` (null: none). */
  call(method: string, path: string, body?: unknown, token?: string | null): Promise<Answer>;
  /** Takes a browser that was kept, unless `more` says otherwise. */
  bind(sessionId: string, seq: number, more?: Partial<BindLease>): Promise<Answer>;
  /** `reuse`: `keep` by default. */
  release(sessionId: string, seq: number, reuse?: Reuse): Promise<Answer>;
  /** Opens a raw CDP WebSocket; returns the HTTP status when it is refused. */
  upgrade(sessionId: string, token?: string): Promise<WebSocket | number>;
  /** Connects puppeteer through the agent's proxy, as a session's client does. */
  connect(sessionId: string): Promise<Browser>;
  /** Resolves with the exit code when the agent has ended. */
  exited: Promise<number | null>;
  termination(): Termination | undefined;
};

/**
 * `archives`: those that the setup names. `user`: the number of the user, and of the group, that runs it; left out,
 * this one.
 */
export type StartOptions = {
  user?: number;
  /** Where it listens; left out, an address of loopback that no other test has. */
  address?: string;
  env?: Record<string, string>;
  ready?: boolean;
  setup?: z.input<typeof BrowserSetup>;
  archives?: Buffer[];
  /** Left out, a new one. */
  agentKey?: KeyObject;
};

export type TestAgents = {
  /**
   * Starts an agent as a local kubelet does. `ready: false` does not wait for its browser. `setup`: sent to it as an
   * operator does.
   */
  start(browser?: Partial<BrowserConfig>, more?: StartOptions): Promise<TestAgent>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Pids of living processes in these process groups, without zombies. */
export const runningIn = (groups: number[]): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return groups.includes(Number(group)) && state !== "Z";
      } catch {
        return false;
      }
    })
    .map(Number);

/** The answer of `/readyz`; undefined while no server listens. */
const readiness = async (baseUrl: string): Promise<number | undefined> => {
  const response = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status;
};

const untilReady = async (agent: TestAgent): Promise<void> => {
  const deadline = Date.now() + readyWithinMs;
  while ((await readiness(agent.baseUrl)) !== 200) {
    if (Date.now() > deadline || agent.child.exitCode !== null) throw new Error(`agent not ready: ${agent.log()}`);
    await sleep(20);
  }
};

const sendSetup = async (agent: TestAgent, setup: z.input<typeof BrowserSetup>, archives: Buffer[]): Promise<void> => {
  const deadline = Date.now() + readyWithinMs;
  while ((await readiness(agent.baseUrl)) === undefined) {
    if (Date.now() > deadline || agent.child.exitCode !== null) throw new Error(`agent not up: ${agent.log()}`);
    await sleep(20);
  }
  const put = async (path: string, bytes: Buffer): Promise<void> => {
    const { status, body } = await agent.call("PUT", path, bytes);
    if (status !== 200) throw new Error(`the agent refused its setup: ${status} ${JSON.stringify(body)}`);
  };
  await put("/setup", sealText(agent.agentKey, JSON.stringify(setup)));
  for (const archive of archives) {
    const parts: Buffer[] = [];
    for await (const part of sealStream(agent.agentKey, [archive])) parts.push(part);
    await put(`/archives/${createHash("sha256").update(archive).digest("hex")}`, Buffer.concat(parts));
  }
};

const openSocket = (url: string, headers: Record<string, string>): Promise<WebSocket | number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers });
    socket.on("open", () => resolve(socket));
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    socket.on("error", reject);
  });

const describeAgent = (
  child: ChildProcess,
  { dir, dataDir }: { dir: string; dataDir: string },
  podUid: string,
  privateKey: KeyObject,
): Omit<TestAgent, "agentKey"> => {
  const tokens = createAgentTokens(privateKey);
  const authority = hostPort(child.spawnargs.at(-1) ?? "", port);
  const baseUrl = `http://${authority}`;
  const groupsFile = join(dataDir, "process-groups");
  const log: string[] = [];
  child.stderr?.on("data", (chunk: Buffer) => log.push(chunk.toString()));
  const headers = async (sessionId: string, token?: string): Promise<Record<string, string>> => ({
    authorization: `Bearer ${token ?? tokens.tokenFor(podUid)}`,
    [sessionHeader]: sessionId,
  });
  const call: TestAgent["call"] = async (method, path, body, token) => {
    const bearer = token === undefined ? tokens.tokenFor(podUid) : token;
    const response = await fetch(baseUrl + path, {
      method,
      headers: bearer === null ? {} : { authorization: `Bearer ${bearer}` },
      ...(body !== undefined && {
        body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    });
    return { status: response.status, body: (await response.json()) as Answer["body"] };
  };
  return {
    podUid,
    privateKey,
    dir,
    groupsFile,
    child,
    baseUrl,
    call,
    log: () => log.join(""),
    groups: () => [...readFileSync(groupsFile, "utf8").matchAll(/^(\d+) /gm)].map(([, pgid]) => Number(pgid)),
    bind: (session_id, seq, more) =>
      call("PUT", "/lease", {
        session_id,
        epoch: 1,
        seq,
        timeout_seconds: 600,
        max_seconds: 3600,
        request: "{}",
        takes_kept: true,
        ...more,
      }),
    release: (session_id, seq, reuse = "keep") => call("DELETE", "/lease", { session_id, epoch: 1, seq, reuse }),
    upgrade: async (sessionId, token) => openSocket(`ws://${authority}/cdp`, await headers(sessionId, token)),
    connect: async (sessionId) =>
      puppeteer.connect({
        browserWSEndpoint: `ws://${authority}/cdp`,
        headers: await headers(sessionId),
        defaultViewport: null,
      }),
    exited: once(child, "exit").then(([code]) => code as number | null),
    termination: () => {
      const file = join(dir, "termination-log");
      return existsSync(file) ? Termination.parse(JSON.parse(readFileSync(file, "utf8"))) : undefined;
    },
  };
};

const defaults: BrowserConfig = { headless: true, kiosk_mode: false, viewport: { width: 800, height: 600 } };

/**
 * Whether an agent gets policies that Chromium reads in /etc/chromium, as in its pod. Authorities of proxies are
 * policies.
 */
const hasPolicies = ({ setup, env }: StartOptions): boolean =>
  env?.BROWSERPOOL_OWN_PORTS === undefined &&
  (setup?.policy !== undefined || setup?.network?.proxies?.some((one) => one.ca_bundle) === true);

/** Makes what an agent of this user shall see as /etc/chromium. */
const policyRootIn = async (dir: string, user: number | undefined): Promise<string> => {
  const root = join(dir, "etc");
  await mkdir(join(root, "policies"), { recursive: true });
  if (user !== undefined) for (const one of [root, join(root, "policies")]) await chown(one, user, user);
  return root;
};

/** The command before that of a process that sees this folder as /etc/chromium. */
const seeing = (root: string): string[] => [
  ...["unshare", "--user", "--map-current-user", "--keep-caps", "--mount"],
  ...["sh", "-c", 'mount --bind "$1" /etc/chromium && shift && exec "$@"', "sh", root],
];

const newAgentKey = (): KeyObject => createSecretKey(randomBytes(32));

/** Agents in child processes, each on its own loopback address. Disposing ends them and all that they started. */
export const createTestAgents = (): TestAgents => {
  const agents: TestAgent[] = [];
  return {
    async start(browser = {}, options = {}) {
      const { env = {}, ready = true, setup, archives = [], agentKey = newAgentKey(), user } = options;
      const { address = loopbackAddress() } = options;
      const dir = await mkdtemp(join(tmpdir(), "a-"));
      if (user !== undefined) await chown(dir, user, user);
      const dataDir = env.BROWSERPOOL_AGENT_DATA_DIR ?? dir;
      const podUid = randomUUID();
      const { publicKey, privateKey } = generateKeyPairSync("ed25519");
      const policyRoot = hasPolicies(options) ? await policyRootIn(dir, user) : undefined;
      const [program = "", ...args] = [...(policyRoot ? seeing(policyRoot) : []), process.execPath, entry, address];
      const child = spawn(program, args, {
        stdio: ["ignore", "ignore", "pipe"],
        ...(user !== undefined && { uid: user, gid: user }),
        env: {
          PATH: process.env.PATH,
          HOME: dir,
          TMPDIR: dir,
          BROWSERPOOL_BROWSER: JSON.stringify({
            ...defaults,
            ...browser,
            awaits_setup: browser.awaits_setup ?? setup !== undefined,
          }),
          BROWSERPOOL_AGENT_PUBLIC_KEY: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
          BROWSERPOOL_AGENT_KEY: writeAgentKey(agentKey),
          BROWSERPOOL_AGENT_PORT: String(port),
          BROWSERPOOL_AGENT_ADDRESS: address,
          BROWSERPOOL_POD_UID: podUid,
          BROWSERPOOL_POD_NAME: "pool-abcde",
          BROWSERPOOL_TERMINATION_LOG: join(dir, "termination-log"),
          BROWSERPOOL_AGENT_DATA_DIR: dataDir,
          ...(policyRoot && { BROWSERPOOL_POLICY_DIR: join(policyRoot, "policies") }),
          ...env,
        },
      });
      const agent = { ...describeAgent(child, { dir, dataDir }, podUid, privateKey), agentKey };
      agents.push(agent);
      if (setup) await sendSetup(agent, setup, archives);
      if (ready) await untilReady(agent);
      return agent;
    },
    async [Symbol.asyncDispose]() {
      for (const { child, exited, groupsFile, dir } of agents.splice(0)) {
        if (child.exitCode === null && child.signalCode === null) {
          child.kill("SIGKILL");
          await exited;
        }
        await killRecordedGroups(groupsFile);
        // A browser that the agent had started and not recorded yet.
        await endAtHomeIn(dir);
        await rm(dir, { recursive: true, force: true, maxRetries: 5 });
      }
    },
  };
};
