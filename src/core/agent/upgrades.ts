/**
 * Upgrades to a WebSocket at the agent:
 *
 *   path known? ──► caller authorized? ──► WebSocket 13? ──► session holds the browser? ──► what the path serves
 *
 * Each refusal is an HTTP answer with the agent's proof. An admitted socket counts as one of the lease's and is cut
 * when that lease ends.
 */
import type { KeyObject } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Purpose, purposeHeader, sessionHeader } from "../protocol/agent-api.ts";
import { nonceIn, proofHeader, proofOf, type UpgradePath, upgradeTo } from "../protocol/agent-proof.ts";
import type { Authorizer } from "./agent-http.ts";
import { type AgentReply, refusal, refusals, unauthorized } from "./agent-reply.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";

/**
 * A client whose machine vanished without a word is found by TCP probes after this, so that it doesn't hold a lease for
 * ever.
 */
const keepAliveMs = 15_000;

/** An upgrade of the session that holds the browser. */
export type AdmittedUpgrade = {
  request: IncomingMessage;
  client: Socket;
  /** What the client has sent after its head. */
  head: Buffer;
  /** The value of the proof header for an answer of this status; undefined when the caller asks for none. */
  prove(status: number): string | undefined;
  /** Answers with an HTTP error and closes the connection. */
  refuse(reply: AgentReply): void;
};

/**
 * Serves an admitted upgrade: it answers the handshake. Called while the client is open, so that its "close" is still
 * to come.
 */
export type ServeUpgrade = (upgrade: AdmittedUpgrade) => void | Promise<void>;

/** Kinds of clients. */
export type ClientKind = "cdp" | "webdriver" | "live_view";

/** Is told of each client. */
export type ClientWatch = {
  /**
   * Counts a client until its socket closes. Resolves when what it does is captured, or can't be. `head`: what it has
   * sent already.
   */
  client(kind: ClientKind, socket: Socket, head: Buffer): Promise<void>;
  /** A vault fills a page until the socket closes. */
  fill(socket: Socket): void;
};

type UpgradeDeps = {
  leases: Pick<LeaseKeeper, "admit">;
  /** The key of this pod's agent, with which it proves its answers. */
  agentKey: KeyObject;
  paths: Partial<Record<UpgradePath, ServeUpgrade>>;
  watch?: ClientWatch | undefined;
};

const kindAt: Record<UpgradePath, ClientKind> = { "/cdp": "cdp", "/webdriver": "webdriver", "/view": "live_view" };

const purposes: readonly Purpose[] = ["fill", "glance"];

const purposeOf = ({ headers }: IncomingMessage): Purpose | undefined =>
  purposes.find((each) => each === headers[purposeHeader]);

const writeRefusal = (client: Duplex, { status, body }: AgentReply, proof: string | undefined): void => {
  const json = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} Refused`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(json)}`,
    ...(proof ? [`${proofHeader}: ${proof}`] : []),
    "Connection: close",
  ];
  client.end(`${head.join("\r\n")}\r\n\r\n${json}`, () => client.destroy());
};

/** As Chromium, it takes what RFC 6455 does not: go-rod sends a word and no 16 bytes of base64. The bound is ours. */
const websocketKey = /^[!-~]{1,256}$/;

const isWebSocketUpgrade = ({ method, headers }: IncomingMessage): boolean =>
  method === "GET" &&
  headers.upgrade?.toLowerCase() === "websocket" &&
  headers["sec-websocket-version"] === "13" &&
  websocketKey.test(headers["sec-websocket-key"] ?? "");

/** Returns the handler of upgrades. */
export const createUpgrades = ({ leases, agentKey, paths, watch }: UpgradeDeps) => {
  const serverAt = (path: UpgradePath): ServeUpgrade | undefined =>
    Object.hasOwn(paths, path) ? paths[path] : undefined;

  const whyRefused = (request: IncomingMessage, client: Socket): AgentReply | undefined => {
    if (!isWebSocketUpgrade(request)) return refusal("bad_request", "only a WebSocket upgrade of version 13 is taken");
    const session = request.headers[sessionHeader];
    const admitted = leases.admit(typeof session === "string" ? session : "", client, purposeOf(request));
    if (admitted === "admitted") return undefined;
    if (admitted === "not_holder") return refusals.session_not_found;
    return admitted === "too_many" ? refusals.too_many_requests : refusals[admitted];
  };

  return async (request: IncomingMessage, client: Socket, head: Buffer, isAuthorized: Authorizer): Promise<void> => {
    client.on("error", () => client.destroy());
    client.setKeepAlive(true, keepAliveMs);
    // The path is looked up before it is used as one of the known ones.
    const path = (request.url?.split("?")[0] ?? "") as UpgradePath;
    const nonce = nonceIn(request.headers);
    const prove = (status: number) => nonce && proofOf(agentKey, { ...upgradeTo(path), nonce, status });
    const refuse = (reply: AgentReply): void => writeRefusal(client, reply, prove(reply.status));
    const serve = serverAt(path);
    if (!serve) return refuse(refusals.not_found);
    if (!(await isAuthorized(request))) return refuse(unauthorized());
    // A client that has hung up meanwhile brings no further "close": it would count for ever.
    if (client.destroyed) return;
    const refused = whyRefused(request, client);
    if (refused) return refuse(refused);
    const purpose = purposeOf(request);
    if (purpose === "fill") watch?.fill(client);
    if (purpose === undefined) await watch?.client(kindAt[path], client, head);
    if (client.destroyed) return;
    await serve({ request, client, head, prove, refuse });
  };
};
