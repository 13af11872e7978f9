import { createPrivateKey, createPublicKey, createSecretKey } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import fc from "fast-check";
import { Registry } from "prom-client";
import { readConfig } from "../../../src/core/config/config.ts";
import { attachGateway, isWebSocketUpgrade } from "../../../src/core/gateway/gateway.ts";
import { answerMalformed } from "../../../src/core/http/refuse-socket.ts";
import { createApiMetrics } from "../../../src/core/metrics/api-metrics.ts";
import { createCallerLimits } from "../../../src/core/projects/caller-limits.ts";
import { createAgentKeys } from "../../../src/core/protocol/agent-key.ts";
import {
  nonceHeader,
  proofHeader,
  proofOf,
  type UpgradePath,
  upgradeTo,
} from "../../../src/core/protocol/agent-proof.ts";
import { createAgentTokens } from "../../../src/core/protocol/agent-token.ts";
import { signLiveViewToken, signSessionToken } from "../../../src/core/protocol/session-token.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { eventually } from "../../support/eventually.ts";
import { mutatedText } from "../inputs/mutated-text.ts";
import { exchange, upgradeHead } from "../inputs/upgrade-heads.ts";
import { type FuzzTarget, must } from "../target.ts";

const signingKey = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, 1)]),
  format: "der",
  type: "pkcs8",
});
const claims = { sessionId: "s1", poolUid: "pool-1" };
const token = signSessionToken(signingKey, claims);
const viewToken = signLiveViewToken(signingKey, { ...claims, readOnly: true });
const paths = [
  `/gateway/s1/cdp?jwt=${token}`,
  `/gateway/s1/webdriver?jwt=${token}`,
  `/gateway/s1/live?jwt=${viewToken}&readOnly=true`,
  `/gateway/s2/cdp?jwt=${token}`,
];
const podName = "pool-bbbbbbbbbbbb";

/** How the agent answers: as it does, or with another text. */
type Input = { pieces: Buffer[]; answer: string | undefined };
const proper = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nPROOF\r\n\r\n";
const inputs: fc.Arbitrary<Input> = fc.record({
  pieces: upgradeHead({ paths, token }),
  answer: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: mutatedText(
        fc.constantFrom(proper, "HTTP/1.1 401 Unauthorized\r\nPROOF\r\n\r\n", proper.replace("PROOF", "x: y")),
        {
          tokens: ["\r\n", "\r\n\r\n", "PROOF", "HTTP/1.1 ", "\0", ": "],
        },
      ),
    },
  ),
});

/** The header names that an agent may be sent, and each once. */
const known = new Set([
  "host",
  "connection",
  "upgrade",
  "sec-websocket-key",
  "sec-websocket-version",
  "sec-websocket-protocol",
  "sec-websocket-extensions",
  "authorization",
  "x-browserpool-session",
  "x-browserpool-view",
  nonceHeader,
]);

/** What is wrong with what the gateway has sent to the agent. */
const problemOf = (head: string): string | undefined => {
  const [first = "", ...lines] = head.split("\r\n");
  if (!/^GET \/(cdp|webdriver|view) HTTP\/1\.1$/.test(first)) return `the line ${first}`;
  const names = lines.map((line) => line.slice(0, line.indexOf(":")).toLowerCase());
  const odd = names.find((name, index) => !known.has(name) || names.indexOf(name) < index);
  return odd === undefined ? undefined : `the header ${JSON.stringify(odd)}`;
};

const startAgent = async (keys: ReturnType<typeof createAgentKeys>) => {
  const state = { answer: undefined as string | undefined, problem: undefined as string | undefined, hasProven: false };
  const sockets = new Set<Socket>();
  const serve = (socket: Socket, head: string): void => {
    state.problem ??= problemOf(head);
    const nonce = new RegExp(`${nonceHeader}: (\\S+)`, "i").exec(head)?.[1] ?? "";
    const path = (/^GET (\S+)/.exec(head)?.[1] ?? "/cdp") as UpgradePath;
    const text = state.answer ?? proper;
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
    const proof = proofOf(keys.keyOf(podName), { ...upgradeTo(path), nonce, status });
    state.hasProven ||= text.includes("PROOF") && status === 101;
    socket.end(text.replaceAll("PROOF", `${proofHeader}: ${proof}`), "latin1");
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let read = "";
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      if (read.includes("\r\n\r\n")) return;
      read += chunk.toString("latin1");
      const end = read.indexOf("\r\n\r\n");
      if (end >= 0) serve(socket, read.slice(0, end));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { state, address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
};

/** The gateway over everything real but the records of leases, which are one. */
const startGateway = async (agentKeys: ReturnType<typeof createAgentKeys>, address: string) => {
  const config = { ...readConfig({}), callers: { ...readConfig({}).callers, failedAttemptsPerMinute: 1e9 } };
  const metrics = createApiMetrics(new Registry(), { gatewayConnections: () => 0 } as never);
  const request = JSON.stringify({
    project: "p",
    timeout_seconds: 60,
    max_session_seconds: 3600,
    pool: { id: "pool", uid: "pool-1" },
  });
  const lease = { session: "s1", browser: "pod-uid", pod: podName, address, request };
  const deps = {
    config,
    metrics,
    store: {
      endedLease: async () => ({ reason: "released" }),
      lease: async (pool: string, session: string) => (pool === "pool-1" && session === "s1" ? lease : undefined),
    },
    pools: { list: () => [] },
    browsers: { list: () => [] },
    agents: { learnTime: async () => undefined },
    agentTokens: createAgentTokens(signingKey),
    agentKeys,
    signingKey,
    verifyKey: createPublicKey(signingKey),
    callerLimits: createCallerLimits(config.callers, metrics),
  };
  const server = createHttpServer({ shouldUpgradeCallback: isWebSocketUpgrade }, (_request, response) =>
    response.end("{}"),
  );
  answerMalformed(server);
  const audit = { write: () => undefined, record: () => undefined, close: async () => undefined };
  const gateway = attachGateway(server, deps as never, { audit: audit as never, log: createLogger("silent", "fuzz") });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, gateway, port: (server.address() as AddressInfo).port };
};

export const target: FuzzTarget<Input> = {
  about:
    "Clients at the gateway, over real sockets, and an agent that may answer anything: only the session of the token is reached, the agent is sent one plain head and nothing of the client's own, and the client gets an upgrade only from the agent that proves itself.",
  inputs,
  async open() {
    const keys = createAgentKeys(createSecretKey(Buffer.alloc(32, 3)));
    const agent = await startAgent(keys);
    const { server, gateway, port } = await startGateway(keys, agent.address);
    const send = (pieces: readonly Buffer[]): Promise<string> => exchange(connect(port, "127.0.0.1"), pieces);
    return {
      async check({ pieces, answer }) {
        Object.assign(agent.state, { answer, problem: undefined, hasProven: false });
        const got = await send(pieces);
        must(agent.state.problem === undefined, `the agent was sent ${agent.state.problem}`);
        must(
          /^(HTTP\/1\.1 \d{3}|$)/.test(got) && !/^HTTP\/1\.1 500/.test(got),
          `the answer ${JSON.stringify(got.slice(0, 200))}`,
        );
        must(!got.startsWith("HTTP/1.1 101") || agent.state.hasProven, "an upgrade by one that is not the agent");
        // What follows the head is the agent's own.
        const [head = ""] = got.split("\r\n\r\n", 1);
        must(!head.toLowerCase().includes(`\r\n${proofHeader}:`), "the proof came through");
      },
      async isWell() {
        Object.assign(agent.state, { answer: undefined });
        const head = `GET ${paths[0]} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`;
        const got = await send([Buffer.from(head)]);
        must(got.startsWith("HTTP/1.1 101"), `a good client gets ${got.slice(0, 200)}`);
        await eventually("no connection is counted any more", () => gateway.size() === 0);
      },
      async close() {
        gateway.close();
        server.close();
        server.closeAllConnections();
        agent.close();
      },
    };
  },
};
