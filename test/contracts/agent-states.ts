/**
 * The agent as a command runs it, with its real server, lease, logs, telemetry and recordings, over a Chromium that all
 * agents of a test share: it stands in for the browser that each would start, so that an agent is there at once, in any
 * state.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { serveBrowser } from "../../src/cmd/serve-browser.ts";
import { waitForHolder, waitForSetup } from "../../src/cmd/wait-for-setup.ts";
import { readAgentConfig } from "../../src/core/agent/agent-config.ts";
import type { Browser, ChangeOutcome } from "../../src/core/agent/browser.ts";
import type { DevToolsPlace } from "../../src/core/agent/connect-dev-tools.ts";
import { makeFilesDir } from "../../src/core/agent/files-dir.ts";
import { type AgentStartStep, createStepTimes } from "../../src/core/agent/step-times.ts";
import { sessionHeader, type Termination } from "../../src/core/protocol/agent-api.ts";
import { writeAgentKey } from "../../src/core/protocol/agent-key.ts";
import type { BrowserSetup } from "../../src/core/protocol/browser-setup.ts";
import { sealStream, sealText } from "../../src/core/protocol/sealed-bytes.ts";
import { createLeaseLogs } from "../../src/features/logs/agent/lease-logs.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { eventually } from "../support/eventually.ts";
import { listedOrder } from "../support/listed-order.ts";
import { loopbackAddress } from "../support/loopback-address.ts";
import { agentKey, agentTokens, pod, session, verifyKey } from "./parties.ts";

type Sent = { method: string; path: string; headers?: Record<string, string>; body?: Buffer };

export type AgentAtWork = {
  /** Sends a request, with a token unless `headers` has one. The answer's body is still unread. */
  open(sent: Sent): Promise<{ answer: IncomingMessage; socket?: Socket }>;
  /** Sends what a state needs, which must be answered by 200. */
  must(method: string, path: string, body: object | Buffer): Promise<void>;
  /** What the browser does. */
  browser: { isWell: boolean; isReset: Promise<void>; change: ChangeOutcome; logs(line: string): void };
  end(reason: Termination["reason"]): void;
  askToStop(): void;
};

type Options = { devTools: DevToolsPlace; setup?: BrowserSetup | undefined; waitsFor?: "setup" | "holder" };

const port = 7510;

const configOf = (address: string, dir: string, waitsFor: Options["waitsFor"]) =>
  readAgentConfig({
    BROWSERPOOL_BROWSER: JSON.stringify({
      headless: true,
      kiosk_mode: false,
      viewport: { width: 800, height: 600 },
      ...(waitsFor === "setup" && { awaits_setup: true }),
      ...(waitsFor === "holder" && { blank: true }),
    }),
    BROWSERPOOL_AGENT_PUBLIC_KEY: verifyKey.export({ type: "spki", format: "der" }).toString("base64"),
    BROWSERPOOL_AGENT_KEY: writeAgentKey(agentKey),
    BROWSERPOOL_AGENT_ADDRESS: address,
    BROWSERPOOL_AGENT_PORT: String(port),
    BROWSERPOOL_POD_UID: pod.uid,
    BROWSERPOOL_POD_NAME: pod.name,
    BROWSERPOOL_AGENT_GRACE_SECONDS: "600",
    BROWSERPOOL_AGENT_DATA_DIR: dir,
    BROWSERPOOL_TERMINATION_LOG: join(dir, "termination-log"),
  });

const clientOf = (address: string): Pick<AgentAtWork, "open" | "must"> => {
  const open: AgentAtWork["open"] = async ({ method, path, headers = {}, body }) => {
    const authorization = `Bearer ${agentTokens.tokenFor(pod.uid)}`;
    const sent = request({
      ...{ host: address, port, method, path, agent: false },
      headers: { authorization, ...headers, ...(body && { "content-length": body.length }) },
      signal: AbortSignal.timeout(20_000),
    });
    sent.end(body);
    const upgraded = once(sent, "upgrade") as Promise<[IncomingMessage, Socket]>;
    const answered = once(sent, "response") as Promise<[IncomingMessage]>;
    for (const waiting of [upgraded, answered]) waiting.catch(() => undefined);
    const [answer, socket] = await Promise.race([upgraded, answered]);
    socket?.on("error", () => undefined);
    return { answer, ...(socket && { socket }) };
  };
  return {
    open,
    async must(method, path, body) {
      const { answer } = await open({
        ...{ method, path },
        body: Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)),
      });
      const said = await buffer(answer);
      if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${said}`);
    },
  };
};

/** Starts one that ends, with all that it has, with `stack`. `setup`: what it got before its browser was started. */
export const startAgent = async (
  { devTools, setup, waitsFor }: Options,
  stack: AsyncDisposableStack,
): Promise<AgentAtWork> => {
  const address = loopbackAddress();
  const dir = await mkdtemp(join(tmpdir(), "contract-agent-"));
  stack.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const profileDir = join(dir, "profile");
  await mkdir(profileDir);
  const config = configOf(address, dir, waitsFor);
  await makeFilesDir(config.filesDir);
  const logs = createLeaseLogs();
  const log = createLogger("info", "agent", "/dev/null", logs.noteAgent);
  const ended = Promise.withResolvers<Termination>();
  const [asked, atOnce] = [new AbortController(), new AbortController()];
  const own: AgentAtWork["browser"] = {
    isWell: true,
    isReset: Promise.resolve(),
    change: "changed",
    logs: logs.startChromium(),
  };
  const browser: Browser = {
    devTools: () => devTools,
    pageOrder: () => listedOrder,
    screen: () => undefined,
    folder: () => dir,
    addressOf: () => undefined,
    hasWall: () => false,
    version: () => "156.0.7800.12",
    isHealthy: async () => own.isWell,
    clearFiles: async () => true,
    takeDownloads: () => undefined,
    freeTabs: async () => ({ closed: 0, isFree: true }),
    open: () => undefined,
    change: async () => own.change,
    reset: () => own.isReset,
    close: async () => profileDir,
    ended: ended.promise,
    stop: async () => undefined,
  };
  const received = setup && { setup, archive: () => "" };
  const parts = {
    signals: { asked: asked.signal, atOnce: atOnce.signal },
    logs,
    log,
    times: createStepTimes<AgentStartStep>(),
  };
  const serveGiven = async (): Promise<unknown> => {
    const held = await waitForHolder(config, asked.signal, log);
    return "given" in held && serveBrowser({ ...parts, ...held.given, given: held.given }, browser);
  };
  const served = {
    setup: () => waitForSetup(config, asked.signal, log).catch(() => undefined),
    holder: () => serveGiven().catch(() => undefined),
    nothing: () => serveBrowser({ config, received, ...parts }, browser),
  }[waitsFor ?? "nothing"]();
  stack.defer(async () => {
    atOnce.abort();
    asked.abort();
    await served;
  });
  const client = clientOf(address);
  // Most listen by then, and need no second look.
  await setImmediate();
  await eventually("the agent listens", async () => {
    const probe = await client.open({ method: "GET", path: "/livez" }).catch(() => undefined);
    probe?.answer.resume();
    return probe !== undefined;
  });
  return {
    ...client,
    browser: own,
    end: (reason) => ended.resolve({ reason, message: "as the example says" }),
    askToStop: () => asked.abort(),
  };
};

/** The lease of the examples. */
const lease = { session_id: session, epoch: 1, seq: 3 };

const bind = (agent: AgentAtWork, more: object = {}): Promise<void> =>
  agent.must("PUT", "/lease", {
    ...{ ...lease, timeout_seconds: 600, max_seconds: 3600, request: '{"of":"the caller"}' },
    ...more,
  });

const use = (agent: AgentAtWork): Promise<void> => bind(agent, { start_url: "about:blank" });

const sealed = (said: object): Buffer => sealText(agentKey, JSON.stringify(said));

const refOf = (text: string) => ({ sha256: createHash("sha256").update(text).digest("hex"), bytes: text.length });

const archive = refOf("an archive");

const change = (agent: AgentAtWork, more: object): Promise<void> =>
  agent.must("PUT", "/change", sealed({ ...lease, apply: false, ...more }));

const record = (agent: AgentAtWork): Promise<void> =>
  agent.must("PUT", "/replays/recording1", { ...lease, framerate: 10, seconds: 60, max_bytes: 1_000_000 });

const upgrade = (agent: AgentAtWork, headers: Record<string, string> = {}) =>
  agent.open({
    method: "GET",
    path: "/cdp",
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      [sessionHeader]: session,
      ...headers,
    },
  });

const writeFile = async (agent: AgentAtWork): Promise<void> => {
  const { answer } = await agent.open({
    ...{ method: "PUT", path: "/calls/fs/write_file?path=/tmp/a", headers: { [sessionHeader]: session } },
    body: Buffer.from("hello"),
  });
  await buffer(answer);
};

const never = new Promise<void>(() => undefined);

const askProfile = async (agent: AgentAtWork): Promise<string> => {
  const { answer } = await agent.open({ method: "GET", path: "/profile" });
  return JSON.parse(String(await buffer(answer))).is;
};

const savedAs = (wanted: string, agent: AgentAtWork) =>
  eventually(`the profile is ${wanted}`, async () => (await askProfile(agent)) === wanted);

const saving: Partial<Options> = { setup: { extensions: [], save_to: "profile-uid" } };

type State = { options?: Partial<Options>; reach?(agent: AgentAtWork): Promise<unknown> };

/** The states that examples are given in, by their names there. */
export const agentStates: Record<string, State> = {
  "no lease": {},
  "a lease": { reach: bind },
  "a lease with a file": {
    async reach(agent) {
      await bind(agent);
      await writeFile(agent);
    },
  },
  "a lease with a CDP connection": {
    async reach(agent) {
      await bind(agent);
      await upgrade(agent);
    },
  },
  "a lease that has ended": {
    async reach(agent) {
      await bind(agent);
      await agent.must("DELETE", "/lease", { ...lease, reuse: "reset" });
    },
  },
  "a lease that was used": { reach: use },
  "a lease that was used, and a browser that takes long to reset": {
    async reach(agent) {
      agent.browser.isReset = never;
      await use(agent);
    },
  },
  "a kept browser": {
    async reach(agent) {
      await use(agent);
      await agent.must("DELETE", "/lease", { ...lease, reuse: "keep" });
    },
  },
  "a reset under way": {
    async reach(agent) {
      agent.browser.isReset = never;
      await use(agent);
      await agent.must("DELETE", "/lease", { ...lease, reuse: "reset" });
    },
  },
  "a browser that does not answer": {
    async reach({ browser }) {
      browser.isWell = false;
    },
  },
  "a lease, and a browser that does not answer": {
    async reach(agent) {
      await bind(agent);
      agent.browser.isWell = false;
    },
  },
  "a lease, and an agent that was told to stop": {
    async reach(agent) {
      await bind(agent);
      agent.askToStop();
    },
  },
  "an inspection under epoch 5": { reach: (agent) => inspect(agent, 5) },
  "a fill under way": {
    async reach(agent) {
      await bind(agent);
      await upgrade(agent, { "x-browserpool-purpose": "fill" });
    },
  },
  "a lease with as many masked values as there may be": {
    async reach(agent) {
      await bind(agent);
      const values = (from: number) => Array.from({ length: 200 }, (_, index) => `value ${from + index}`);
      for (let from = 0; from < 1000; from += 200)
        await agent.must("PUT", "/masks", sealed({ ...lease, values: values(from) }));
    },
  },
  "a lease with a line of Chromium": {
    async reach(agent) {
      await bind(agent);
      agent.browser.logs("Chromium says something");
    },
  },
  "a lease with telemetry that has ended after a client": {
    async reach(agent) {
      await bind(agent, {
        telemetry: { enabled: true, browser: { connection: { enabled: true }, system: { enabled: false } } },
      });
      const { socket } = await upgrade(agent);
      socket?.destroy();
      await eventually("the client is gone", async () => (await stateOf(agent)).lease?.connections === 0);
      await agent.must("DELETE", "/lease", { ...lease, reuse: "reset" });
    },
  },
  "a lease whose change waits for an archive": {
    async reach(agent) {
      await bind(agent);
      await change(agent, { profile: { archive } });
    },
  },
  ...Object.fromEntries(
    (
      [
        "profile_loaded",
        "profile_refused",
        "screen_too_small",
        "viewport_refused",
        "browser_unhealthy",
        "stopping",
      ] as const
    ).map((outcome): [string, State] => [
      `a lease whose browser refuses a change: ${outcome}`,
      {
        async reach(agent) {
          agent.browser.change = outcome;
          await bind(agent);
        },
      },
    ]),
  ),
  "a lease that has left a file": {
    async reach(agent) {
      await bind(agent, { keep_files: true });
      await writeFile(agent);
      await agent.must("DELETE", "/lease", { ...lease, reuse: "none" });
    },
  },
  "a lease that has left nothing": {
    async reach(agent) {
      await bind(agent, { keep_files: true });
      await agent.must("DELETE", "/lease", { ...lease, reuse: "none" });
    },
  },
  "a recording": {
    async reach(agent) {
      await bind(agent);
      await record(agent);
    },
  },
  "a recording that has ended": {
    async reach(agent) {
      await bind(agent);
      await record(agent);
      await agent.must("DELETE", `/replays/recording1?session=${session}`, Buffer.alloc(0));
    },
  },
  "three recordings that have ended": {
    async reach(agent) {
      await bind(agent);
      for (const id of ["recording2", "recording3", "recording4"]) {
        await agent.must("PUT", `/replays/${id}`, { ...lease, framerate: 10, seconds: 60, max_bytes: 1_000_000 });
        await agent.must("DELETE", `/replays/${id}?session=${session}`, Buffer.alloc(0));
        await readToEnd(agent, `/replays/${id}?session=${session}&after=0`);
      }
    },
  },
  "a blank browser": { options: { waitsFor: "holder" } },
  "a blank browser and its lease": { options: { waitsFor: "holder" }, reach: bind },
  "a browser that waits for its setup": { options: { waitsFor: "setup" } },
  "a setup that waits for an archive": {
    options: { waitsFor: "setup" },
    reach: (agent) => agent.must("PUT", "/setup", sealed({ profile: archive })),
  },
  "a browser that saves its profile": { options: saving },
  "a browser that saves its profile and has ended unused": {
    options: saving,
    async reach(agent) {
      agent.end("timeout");
      await savedAs("unused", agent);
    },
  },
  "a browser that saves its profile and has ended after its use": {
    options: saving,
    async reach(agent) {
      await use(agent);
      agent.end("timeout");
      await savedAs("packed", agent);
    },
  },
};

const stateOf = async (agent: AgentAtWork) => {
  const { answer } = await agent.open({ method: "GET", path: "/state" });
  return JSON.parse(String(await buffer(answer)));
};

const inspect = async (agent: AgentAtWork, epoch: number): Promise<void> => {
  const { answer } = await agent.open({ method: "GET", path: `/state?epoch=${epoch}` });
  await buffer(answer);
};

const readToEnd = async (agent: AgentAtWork, path: string): Promise<void> => {
  const { answer } = await agent.open({ method: "GET", path });
  await buffer(answer);
};

/** A body as the example's side sends it. */
export const sealedBody = async ({
  body,
  bytes,
  sealed: text,
  sealedStream,
}: {
  body?: unknown;
  bytes?: string | undefined;
  sealed?: unknown;
  sealedStream?: string | undefined;
}): Promise<Buffer | undefined> => {
  if (text !== undefined) return sealText(agentKey, JSON.stringify(text));
  if (sealedStream !== undefined) {
    const parts: Buffer[] = [];
    for await (const part of sealStream(agentKey, [Buffer.from(sealedStream)])) parts.push(part);
    return Buffer.concat(parts);
  }
  if (bytes !== undefined) return Buffer.from(bytes);
  return body === undefined ? undefined : Buffer.from(JSON.stringify(body));
};
