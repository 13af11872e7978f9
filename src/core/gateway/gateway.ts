/**
 * The WebSocket gateway: `GET /gateway/<session>/<what>?jwt=…` with an upgrade; `what` is one of `pathAtAgent`.
 *
 *   upgrade ──► host and origin ──► token ──► lease ──► bound of its project ──► agent ──► is it the agent? ──► raw bytes both ways
 *
 * The agent answers the upgrade itself and proves in its answer's head that it is the agent; the client gets that head
 * without the proof. After it the gateway follows the heads of the agent's frames and changes nothing; nothing of the
 * client is sent before it. A connection dies with its lease, because the agent cuts it; a client may connect again to
 * the same URL, through any replica, until then.
 */

import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { AuditLog } from "../../platform/audit/audit-log.ts";
import { AppError, httpStatus } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import { type HttpHead, withoutHeader } from "../../platform/cdp/http-head.ts";
import { traceIn } from "../../platform/tracing/trace-context.ts";
import { inSpan, type Tracer } from "../../platform/tracing/tracer.ts";
import type { Config } from "../config/config.ts";
import { newFacts, recordCall } from "../http/audit-call.ts";
import { clientAddress, failedToken } from "../http/client-address.ts";
import { asAppError } from "../http/middleware/error-answer.ts";
import { checkHost } from "../http/middleware/host-check.ts";
import { refuseSocket } from "../http/refuse-socket.ts";
import { requestIdOf } from "../http/request-locals.ts";
import type { AgentClient } from "../leases/agent/agent-client.ts";
import type { ApiMetrics } from "../metrics/api-metrics.ts";
import type { CallerLimits } from "../projects/caller-limits.ts";
import { proofHeader, type UpgradePath } from "../protocol/agent-proof.ts";
import {
  type AskedSession,
  type AuthorizeSessionDeps,
  authorizeSession,
  type SessionTarget,
} from "../sessions/authorize-session.ts";
import { answerOf, connectTo, type Joined, joinAgent } from "./agent-socket.ts";
import { createEndings, endings } from "./endings.ts";

type Gateway = {
  /** Number of open connections. */
  size(): number;
  /** Refuses new connections, and ends the open ones with a closing frame by which clients connect again. */
  close(): void;
};

const pathPattern = /^\/gateway\/([a-z0-9][a-z0-9.-]{0,252})\/([a-z]+)$/;

/** What a session serves here, and where its agent serves it. */
const pathAtAgent: ReadonlyMap<string, UpgradePath> = new Map([
  ["cdp", "/cdp"],
  ["webdriver", "/webdriver"],
  ["live", "/view"],
]);

/** Limit of this replica. The agent limits the connections of one session. */
const maxConnections = 10_000;

/** Headers of the client's handshake that the agent needs. The gateway passes on no others. */
const passedHeaders = [
  "sec-websocket-key",
  "sec-websocket-version",
  "sec-websocket-protocol",
  "sec-websocket-extensions",
];

const handshake = ({ headers }: IncomingMessage, target: SessionTarget): string => {
  const passed = passedHeaders.flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [`${name}: ${value}`] : [];
  });
  const own = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}`);
  const lines = [
    `GET ${target.path} HTTP/1.1`,
    `Host: ${target.agent.address}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    ...passed,
    ...own,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
};

const parseTarget = (url = ""): AskedSession => {
  const { pathname = "", searchParams = new URLSearchParams() } = URL.parse(url, "http://gateway") ?? {};
  const [, sessionId, what = ""] = pathPattern.exec(pathname) ?? [];
  const path = pathAtAgent.get(what);
  if (!sessionId || !path) throw new AppError("not_found", "there is no WebSocket at this path");
  const isSet = (name: string): boolean => searchParams.get(name) === "true";
  const token = searchParams.get("jwt") ?? "";
  return { sessionId, path, token, readOnly: isSet("readOnly"), glance: isSet("glance") };
};

/** How the audit stream names a call, by what the session is asked for. */
const verbs: ReadonlyMap<string, string> = new Map([
  ["cdp", "connectCdp"],
  ["webdriver", "connectWebDriver"],
  ["live", "connectLiveView"],
]);

/** What a URL asks a session for; empty for what is no path of one. */
const askedOf = (url = ""): string => {
  const [, , asked = ""] = pathPattern.exec(URL.parse(url, "http://gateway")?.pathname ?? "") ?? [];
  return asked;
};

/** What is no path of a session counts as the oldest one. */
const callOf = (url = ""): { verb: string; object: string } => {
  const asked = askedOf(url);
  const what = verbs.has(asked) ? asked : "cdp";
  return { verb: verbs.get(what) ?? "", object: `/gateway/{session}/${what}` };
};

/** What clients in extensions and apps connect to, by the token of its URL. The live view is for its own page. */
const forApps: ReadonlySet<string> = new Set(["cdp", "webdriver"]);

const openTarget = async (
  request: IncomingMessage,
  deps: AuthorizeSessionDeps & { config: Config },
): Promise<SessionTarget> => {
  checkHost(request.headers, deps.config, { takesApps: forApps.has(askedOf(request.url)) });
  const asked = parseTarget(request.url);
  return authorizeSession(asked, deps);
};

const switchingProtocols = 101;

const noAnswer = (cause?: unknown): AppError =>
  new AppError("unavailable", "the browser does not answer; connect again", { cause, retryAfterSeconds: 1 });

/** A connection to the browser's agent, and the head of its answer to the upgrade. */
type Reached = { agent: Socket; answer: HttpHead };

/**
 * The head of the answer to the upgrade. Throws `unavailable` when none comes, or when it is not from the browser's
 * agent.
 */
const provenAnswer = async (agent: Socket, target: SessionTarget, log: Logger): Promise<HttpHead> => {
  const answer = await answerOf(agent).catch((cause: unknown) => {
    throw noAnswer(cause);
  });
  if (target.isGenuine(answer)) return answer;
  log.warn({ address: target.agent.address }, "an answer did not come from the browser's agent");
  throw noAnswer();
};

/**
 * Does `work` in a span: of the client's trace where it names one, else of the trace in which its session was acquired.
 */
const connectTraced = async <T>(
  request: IncomingMessage,
  { trace: acquired }: SessionTarget,
  tracer: Tracer | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  if (!tracer) return work();
  const given = traceIn(request.headers);
  const { verb, object } = callOf(request.url);
  const span = tracer.begin({
    name: `GET ${object}`,
    kind: "server",
    parent: given ?? acquired,
    link: given && acquired,
    attributes: { "browserpool.verb": verb },
  });
  return inSpan(tracer, span, work);
};

/** Whether a request asks for a WebSocket. A server ignores offers of other protocols (h2c), as HTTP allows. */
export const isWebSocketUpgrade = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === "websocket";

/** Serves the upgrades of an HTTP server. The server must accept only upgrades that pass `isWebSocketUpgrade`. */
export const attachGateway = (
  server: Server,
  deps: AuthorizeSessionDeps & {
    agents: AgentClient;
    callerLimits: CallerLimits;
    config: Config;
    metrics: ApiMetrics;
    tracer?: Tracer | undefined;
  },
  { audit, log }: { audit: AuditLog; log: Logger },
): Gateway => {
  /** With what joins each to its agent, once that has answered. */
  const open = new Map<Socket, Joined | undefined>();
  let isClosing = false;
  const whyCut = createEndings(deps.store);

  const reachOnce = async (request: IncomingMessage, client: Socket, target: SessionTarget): Promise<Reached> => {
    const agent = await connectTo(target.agent.address).catch((cause: unknown) => {
      throw noAnswer(cause);
    });
    client.once("close", () => agent.destroy());
    if (client.destroyed) {
      agent.destroy();
      throw noAnswer();
    }
    agent.write(handshake(request, target));
    const answer = await provenAnswer(agent, target, log).catch((error: unknown) => {
      agent.destroy();
      throw error;
    });
    return { agent, answer };
  };
  /**
   * An agent that does not take the token may go by another time than this process: once more, by the agent's time
   * (LEASE-55).
   */
  const reach = async (request: IncomingMessage, client: Socket, target: SessionTarget): Promise<Reached> => {
    const first = await reachOnce(request, client, target);
    if (first.answer.status !== httpStatus.unauthorized) return first;
    first.agent.destroy();
    await deps.agents.learnTime(target.agent);
    const second = await reachOnce(request, client, await openTarget(request, deps));
    if (second.answer.status !== httpStatus.unauthorized) return second;
    second.agent.destroy();
    // The client's token is good, so a 401 would mislead it.
    throw noAnswer();
  };

  const requireRoom = (): void => {
    if (isClosing || open.size >= maxConnections)
      throw new AppError("unavailable", "no new connections here now; connect again", { retryAfterSeconds: 1 });
  };

  const join = async (request: IncomingMessage, client: Socket, head: Buffer): Promise<void> => {
    requireRoom();
    const target = await openTarget(request, deps);
    // A replica that stops has cut all that it knew of.
    requireRoom();
    const leave = deps.callerLimits.connect(target.projectId);
    if (client.destroyed) return leave();
    client.once("close", leave);
    open.set(client, undefined);
    deps.metrics.gatewayConnections.set(open.size);
    client.once("close", () => {
      open.delete(client);
      deps.metrics.gatewayConnections.set(open.size);
    });
    const { agent, answer } = await connectTraced(request, target, deps.tracer, () => reach(request, client, target));
    client.write(withoutHeader(answer, proofHeader), "latin1");
    if (head.length > 0) agent.write(head);
    const joined = joinAgent(client, agent, {
      isWebSocket: answer.status === switchingProtocols,
      whyCut: () => whyCut(target),
    });
    if (open.has(client)) open.set(client, joined);
  };

  server.on("upgrade", (request, client: Socket, head) => {
    client.on("error", () => client.destroy());
    const facts = newFacts({
      request_id: requestIdOf(request.headers),
      address: clientAddress(request, deps.config),
      method: request.method,
    });
    join(request, client, head).catch((error: unknown) => {
      const known = asAppError(error, log);
      const refusal = failedToken(request, deps, known);
      const named = { ...callOf(request.url), code: refusal.code, isAlways: true };
      recordCall(audit, { ...facts, ...named }, httpStatus[refusal.code]);
      refuseSocket(client, refusal);
    });
  });

  return {
    size: () => open.size,
    close() {
      isClosing = true;
      for (const [client, joined] of open) {
        if (joined) joined.end(endings.stopping);
        else client.destroy();
      }
    },
  };
};
