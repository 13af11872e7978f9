/**
 * The HTTP server of an agent, whatever it serves: only callers with a token for this pod get an answer, probes aside,
 * and answers prove that they come from this pod's agent (core/protocol/agent-proof.ts).
 */

import type { KeyObject } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { listeningPort } from "../../platform/base/listening-port.ts";
import type { Logger } from "../../platform/base/log.ts";
import { createServer } from "../../platform/net/node-http.ts";
import { nonceIn, proofHeader, proofOf, streamedBody } from "../protocol/agent-proof.ts";
import type { ForRoutes } from "../protocol/agent-routes.ts";
import type { VerifyAgentToken } from "../protocol/agent-token.ts";
import { type AgentReply, refusal, refusals, unauthorized } from "./agent-reply.ts";
import { type AgentLines, createLineStreams, type LineStreams } from "./line-streams.ts";

/**
 * Reads a request's body, up to `maxBytes`. `tooLarge`: the rest of the body stays unread. Rejects when the caller
 * hangs up.
 */
const readBody = (request: IncomingMessage, maxBytes: number): Promise<Buffer | { tooLarge: true }> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= maxBytes) return;
      request.pause();
      resolve({ tooLarge: true });
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("error", reject);
    // "close" follows every request. Make an Error only for a request that was cut off: that takes longer than all the
    // rest.
    request.on("close", () => {
      if (!request.complete) reject(new Error("the caller hung up"));
    });
  });

/** Time for the head of a request, ms. */
const headersTimeoutMs = 10_000;
/** Longer than the pause between two probes or audits of one caller, so that it reuses its connection. */
const keepAliveMs = 30_000;
/** How long `finish` waits for open requests, ms. */
const lastAnswersMs = 1000;
/** A lease's 64 sockets, the callers' connections, and room for connections that are about to be refused. */
const maxSockets = 256;

/**
 * Bytes as an answer, which its head proves. `length`: undefined when it is not known before. `after`: called when they
 * were sent, or can't be.
 */
export type AgentBytes = {
  status: 200;
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  length: number | undefined;
  after(): void;
};

type Answer = AgentReply | AgentLines | AgentBytes;

/** Answers one request; its body is still unread. */
type Handler = (request: IncomingMessage) => Promise<Answer>;

/** The handlers of some of the agent's routes. */
export type Routes = ForRoutes<Handler>;

/** Path → method → handler. A path that ends with `/` has handlers for all paths below it. */
type Handlers = Record<string, Record<string, Handler>>;

type AgentHttpDeps = {
  address: string;
  port: number;
  verify: VerifyAgentToken;
  /** The key of this pod's agent, with which it proves its answers. */
  agentKey: KeyObject;
  routes: Handlers;
  /** Takes upgrades; left out, they are closed. It must ask `isAuthorized` itself. */
  upgrade?: (request: IncomingMessage, socket: Socket, head: Buffer, isAuthorized: Authorizer) => Promise<void>;
  /** Time for a whole request, ms. */
  requestTimeoutMs: number;
  log: Logger;
};

export type AgentServer = {
  port: number;
  /** Accepts no more connections and resolves when all requests are answered, or after a second. */
  finish(): Promise<void>;
  /** Accepts no more connections. Requests that are open go on. */
  stopListening(): void;
  /** Stops listening and destroys every connection at once. */
  close(): void;
};

/** Whether a request has a token for this agent. */
export type Authorizer = (request: IncomingMessage) => Promise<boolean>;

/** The answer to probes when all is well. */
export const ok: AgentReply = { status: 200, body: { ok: true } };

const describeIssues = (error: z.ZodError): string =>
  error.issues.map((issue) => `${issue.path.join(".") || "body"}: ${issue.message}`).join("; ");

/** Time for a body that is parsed, ms; only archives may take longer. */
const bodyMs = 10_000;

const bodyOf = async (request: IncomingMessage, maxBytes: number): ReturnType<typeof readBody> => {
  const timer = setTimeout(() => request.destroy(), bodyMs);
  try {
    return await readBody(request, maxBytes);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * The body parsed by `schema`, or the reply that says what is wrong with it. `open`: makes the body's text of its
 * bytes.
 */
export const parseBody = async <T>(
  request: IncomingMessage,
  schema: z.ZodType<T>,
  { maxBytes, open = String }: { maxBytes: number; open?: (bytes: Buffer) => string },
): Promise<{ body: T } | { refused: AgentReply }> => {
  const bytes = await bodyOf(request, maxBytes);
  if (!Buffer.isBuffer(bytes)) {
    return { refused: refusal("payload_too_large", `a body has ${maxBytes} bytes at most`) };
  }
  let json: unknown;
  try {
    json = JSON.parse(open(bytes));
  } catch {
    return { refused: refusal("bad_request", "the body is not JSON") };
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) return { refused: refusal("bad_request", describeIssues(parsed.error)) };
  return { body: parsed.data };
};

/** The kubelet's probes carry no token. */
const isProbe = (path: string): boolean => path === "/livez" || path === "/readyz";

const createAuthorizer =
  (verify: VerifyAgentToken): Authorizer =>
  async (request) => {
    const [, token] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
    return token !== undefined && (await verify(token));
  };

type Answering = { request: IncomingMessage; response: ServerResponse; agentKey: KeyObject; streams: LineStreams };

const isBytes = (body: AgentReply["body"]): body is AsyncIterable<Uint8Array> => Symbol.asyncIterator in body;

/**
 * Sets the proof of an answer, if the caller asks for one. Also of a refusal: the caller must know whose refusal it is.
 */
const prove = ({ request, response, agentKey }: Answering, status: number, body: string): void => {
  const { method = "", url: path = "" } = request;
  const nonce = nonceIn(request.headers);
  if (nonce) response.setHeader(proofHeader, proofOf(agentKey, { nonce, method, path, status, body }));
};

const sendJson = (answering: Answering, status: number, body: object): void => {
  const { request, response } = answering;
  const json = JSON.stringify(body);
  prove(answering, status, json);
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", Buffer.byteLength(json));
  // Close the connection instead of reading the rest of a body that no handler needs, or lets run dry.
  if (!request.complete && request.readableFlowing !== true) response.setHeader("connection", "close");
  response.end(json);
};

const send = (answering: Answering, answer: Answer): void => {
  const { response, streams } = answering;
  const reply = "lines" in answer && streams.isFull(answer) ? refusals.too_many_streams : answer;
  if ("lines" in reply) {
    prove(answering, reply.status, streamedBody);
    response.writeHead(reply.status, { "content-type": "application/x-ndjson" });
    streams.send(response, reply);
  } else if ("bytes" in reply) {
    const { status, bytes, length, after } = reply;
    prove(answering, status, streamedBody);
    const told = length === undefined ? {} : { "content-length": length };
    response.writeHead(status, { "content-type": "application/octet-stream", ...told });
    // An error on the way breaks the connection off.
    pipeline(bytes, response).then(after, after);
  } else if (isBytes(reply.body)) {
    response.writeHead(reply.status, { "content-type": "application/octet-stream" });
    // An error on the way breaks the connection off.
    pipeline(reply.body, response).catch(() => undefined);
  } else sendJson(answering, reply.status, reply.body);
};

const listen = (server: ReturnType<typeof createServer>, port: number, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });

const handlersOf = (routes: Handlers, path: string): Record<string, Handler> | undefined => {
  if (Object.hasOwn(routes, path)) return routes[path];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const folder = path.slice(0, end + 1);
    if (Object.hasOwn(routes, folder)) return routes[folder];
  }
  return undefined;
};

/** Starts the server. Rejects when it cannot listen. */
export const startAgentHttp = async (deps: AgentHttpDeps): Promise<AgentServer> => {
  const { agentKey, routes, upgrade, log } = deps;
  const isAuthorized = createAuthorizer(deps.verify);
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const path = request.url?.split("?")[0] ?? "";
    if (!isProbe(path) && !(await isAuthorized(request))) return unauthorized();
    const methods = handlersOf(routes, path);
    if (!methods) return refusals.not_found;
    const handler = Object.hasOwn(methods, request.method ?? "") ? methods[request.method ?? ""] : undefined;
    return handler
      ? await handler(request)
      : refusal("method_not_allowed", `this path takes ${Object.keys(methods).join(", ")}`);
  };

  const streams = createLineStreams();
  const sockets = new Set<Socket>();
  const unanswered = new Set<Promise<unknown>>();
  const server = createServer({ keepAliveTimeout: keepAliveMs, requestTimeout: deps.requestTimeoutMs });
  server.headersTimeout = headersTimeoutMs;
  server.maxConnections = maxSockets;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (request, response) => {
    const answered = new Promise((resolve) => response.once("close", resolve));
    unanswered.add(answered);
    void answered.then(() => unanswered.delete(answered));
    const answering = { request, response, agentKey, streams };
    answer(request).then(
      (reply) => send(answering, reply),
      (error: unknown) => {
        if (request.destroyed && !request.complete) return;
        log.error({ err: error }, "request failed");
        send(answering, refusal("internal_error", "the agent failed to answer"));
      },
    );
  });
  if (upgrade)
    server.on("upgrade", (request, socket: Socket, head) => {
      upgrade(request, socket, head, isAuthorized).catch((error: unknown) => {
        log.error({ err: error }, "upgrade failed");
        socket.destroy();
      });
    });
  await listen(server, deps.port, deps.address);
  server.on("error", (error) => log.error({ err: error }, "the agent's listener failed"));
  return {
    port: listeningPort(server),
    stopListening: () => void server.close(),
    async finish() {
      server.close();
      await Promise.race([Promise.all(unanswered), sleep(lastAnswersMs, undefined, { ref: false })]);
      streams.end();
    },
    close() {
      server.close();
      streams.end();
      for (const socket of sockets) socket.destroy();
    },
  };
};
