import type { KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { listeningPort } from "../listening-port.ts";
import type { Logger } from "../log.ts";
import { BindLease, EndLease, Epoch } from "../protocol/agent-api.ts";
import { nonceIn, proofHeader, proofOf } from "../protocol/agent-proof.ts";
import type { VerifyAgentToken } from "../protocol/agent-token.ts";
import { type AgentReply, refusal, refusals, unauthorized } from "./agent-reply.ts";
import type { Browser } from "./browser.ts";
import { createCdpProxy } from "./cdp-proxy.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { maxBodyBytes, readBody } from "./read-body.ts";

/** Enough: callers are on the cluster's network and mostly send a few hundred bytes. */
const requestTimeoutMs = 10_000;
/** Longer than the pause between two probes or audits of one caller, so that it reuses its connection. */
const keepAliveMs = 30_000;
/** How long `finish` waits for open requests, ms. */
const lastAnswersMs = 1000;
/** A lease's 64 sockets, the callers' connections, and room for connections that are about to be refused. */
const maxSockets = 256;

export type AgentServerDeps = {
  address: string;
  port: number;
  verify: VerifyAgentToken;
  /** The key of this pod's agent, with which it proves its answers. */
  agentKey: KeyObject;
  leases: LeaseKeeper;
  browser: Pick<Browser, "devTools" | "isHealthy">;
  log: Logger;
};

export type AgentServer = {
  port: number;
  /** Accepts no more connections and resolves when all requests are answered, or after a second. */
  finish(): Promise<void>;
  /** Stops listening and destroys every connection at once. */
  close(): void;
};

type Handler = (request: IncomingMessage) => Promise<AgentReply>;

const ok: AgentReply = { status: 200, body: { ok: true } };

const describeIssues = (error: z.ZodError): string =>
  error.issues.map((issue) => `${issue.path.join(".") || "body"}: ${issue.message}`).join("; ");

/** The body parsed by `schema`, or the reply that says what is wrong with it. */
const parseBody = async <T>(
  request: IncomingMessage,
  schema: z.ZodType<T>,
): Promise<{ body: T } | { refused: AgentReply }> => {
  const text = await readBody(request);
  if (typeof text !== "string") {
    return { refused: refusal("payload_too_large", `a body has ${maxBodyBytes} bytes at most`) };
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { refused: refusal("bad_request", "the body is not JSON") };
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) return { refused: refusal("bad_request", describeIssues(parsed.error)) };
  return { body: parsed.data };
};

const createRoutes = ({ leases, browser }: AgentServerDeps): Record<string, Record<string, Handler>> => {
  const state = (): AgentReply => ({ status: 200, body: leases.state() });
  return {
    "/livez": { GET: async () => ok },
    // A reset is no reason to take the pod out of service: it has a deadline of its own, and the browser ends when it fails.
    "/readyz": {
      GET: async () => (leases.state().resetting || (await browser.isHealthy()) ? ok : refusals.browser_unhealthy),
    },
    "/state": {
      GET: async (request) => {
        const { searchParams } = URL.parse(request.url ?? "", "http://agent") ?? {};
        const epoch = Epoch.safeParse(searchParams?.get("epoch") ?? "0");
        if (!epoch.success) return refusal("bad_request", "epoch: a whole number");
        return { status: 200, body: leases.stateUnder(epoch.data) };
      },
    },
    "/lease": {
      PUT: async (request) => {
        const read = await parseBody(request, BindLease);
        if ("refused" in read) return read.refused;
        const outcome = await leases.bind(read.body);
        // The caller does not learn of this lease: it died, or it gave up and tries another browser.
        if (outcome === "bound" && hasHungUp(request)) await leases.end({ ...read.body, reuse: "reset" });
        return outcome === "bound" ? state() : refusals[outcome];
      },
      DELETE: async (request) => {
        const read = await parseBody(request, EndLease);
        if ("refused" in read) return read.refused;
        const outcome = await leases.end(read.body);
        return outcome === "ended" ? state() : refusals[outcome];
      },
    },
    "/reset": {
      GET: async () => {
        const outcome = await leases.afterReset();
        return outcome === "ended" ? state() : refusals[outcome];
      },
    },
    "/cdp": { GET: async () => refusal("upgrade_required", "only a WebSocket upgrade is taken here") },
  };
};

const hasHungUp = ({ socket }: IncomingMessage): boolean => socket.destroyed || !socket.writable;

/** The kubelet's probes carry no token. */
const isProbe = (path: string): boolean => path === "/livez" || path === "/readyz";

const createAuthorizer =
  (verify: VerifyAgentToken) =>
  async (request: IncomingMessage): Promise<boolean> => {
    const [, token] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
    return token !== undefined && (await verify(token));
  };

type Answering = { request: IncomingMessage; response: ServerResponse; agentKey: KeyObject };

const send = ({ request, response, agentKey }: Answering, { status, body }: AgentReply): void => {
  const json = JSON.stringify(body);
  const { method = "", url: path = "" } = request;
  const nonce = nonceIn(request.headers);
  // Also of a refusal: the caller must know whose refusal it is.
  if (nonce) response.setHeader(proofHeader, proofOf(agentKey, { nonce, method, path, status, body: json }));
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", Buffer.byteLength(json));
  // Close the connection instead of reading the rest of a body that no handler needs.
  if (!request.complete) response.setHeader("connection", "close");
  response.end(json);
};

const listen = (server: ReturnType<typeof createServer>, port: number, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });

/** The agent's HTTP server (src/protocol/agent-api.ts). Rejects when it cannot listen. */
export const startAgentServer = async (deps: AgentServerDeps): Promise<AgentServer> => {
  const routes = createRoutes(deps);
  const isAuthorized = createAuthorizer(deps.verify);
  const answer = async (request: IncomingMessage): Promise<AgentReply> => {
    const path = request.url?.split("?")[0] ?? "";
    if (!isProbe(path) && !(await isAuthorized(request))) return unauthorized();
    const methods = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (!methods) return refusals.not_found;
    const handler = Object.hasOwn(methods, request.method ?? "") ? methods[request.method ?? ""] : undefined;
    return handler
      ? await handler(request)
      : refusal("method_not_allowed", `this path takes ${Object.keys(methods).join(", ")}`);
  };
  const { agentKey, leases } = deps;
  const proxy = createCdpProxy({ devTools: deps.browser.devTools, leases, isAuthorized, agentKey });

  const sockets = new Set<Socket>();
  const unanswered = new Set<Promise<unknown>>();
  const server = createServer({ keepAliveTimeout: keepAliveMs, requestTimeout: requestTimeoutMs });
  server.headersTimeout = requestTimeoutMs;
  server.maxConnections = maxSockets;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (request, response) => {
    const answered = new Promise((resolve) => response.once("close", resolve));
    unanswered.add(answered);
    void answered.then(() => unanswered.delete(answered));
    answer(request).then(
      (reply) => send({ request, response, agentKey }, reply),
      (error: unknown) => {
        if (request.destroyed && !request.complete) return;
        deps.log.error({ err: error }, "request failed");
        send({ request, response, agentKey }, refusal("internal_error", "the agent failed to answer"));
      },
    );
  });
  server.on("upgrade", (request, socket: Socket, head) => {
    proxy(request, socket, head).catch((error: unknown) => {
      deps.log.error({ err: error }, "upgrade failed");
      socket.destroy();
    });
  });
  await listen(server, deps.port, deps.address);
  server.on("error", (error) => deps.log.error({ err: error }, "the agent's listener failed"));
  return {
    port: listeningPort(server),
    async finish() {
      server.close();
      await Promise.race([Promise.all(unanswered), sleep(lastAnswersMs, undefined, { ref: false })]);
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};
