import type { KeyObject } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { readHttpHead, withHeader } from "../cdp/http-head.ts";
import { splice } from "../cdp/splice.ts";
import { purposeHeader, sessionHeader } from "../protocol/agent-api.ts";
import { cdpUpgrade, nonceIn, proofHeader, proofOf } from "../protocol/agent-proof.ts";
import type { Authorizer } from "./agent-http.ts";
import { type AgentReply, refusal, refusals, unauthorized } from "./agent-reply.ts";
import type { DevToolsPlace } from "./connect-dev-tools.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";

/** A client whose machine vanished without a word is found by TCP probes after this, so that it doesn't hold a lease for ever. */
const keepAliveMs = 15_000;

export type CdpProxyDeps = {
  devTools(): DevToolsPlace;
  leases: Pick<LeaseKeeper, "admit">;
  /** The key of this pod's agent, with which it proves its answers. */
  agentKey: KeyObject;
};

type Prove = (status: number) => string | undefined;

/** Returns a function that makes the proof for an answer to this upgrade; undefined when the caller asks for none. */
const proofsFor = ({ headers }: IncomingMessage, agentKey: KeyObject): Prove => {
  const nonce = nonceIn(headers);
  return (status) => nonce && proofOf(agentKey, { ...cdpUpgrade, nonce, status });
};

/** Answers an upgrade with an HTTP error and closes the connection. */
const refuse = (client: Duplex, { status, body }: AgentReply, prove: Prove): void => {
  const json = JSON.stringify(body);
  const proof = prove(status);
  const head = [
    `HTTP/1.1 ${status} Refused`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(json)}`,
    ...(proof ? [`${proofHeader}: ${proof}`] : []),
    "Connection: close",
  ];
  client.end(`${head.join("\r\n")}\r\n\r\n${json}`, () => client.destroy());
};

/**
 * The upgrade for Chromium: the client's key, version and subprotocols. It has no Origin, which Chromium refuses, and
 * offers no compression, which costs more on this machine than it saves.
 */
const upgradeHead = ({ headers }: IncomingMessage, { path }: DevToolsPlace): string => {
  const protocols = headers["sec-websocket-protocol"];
  return [
    `GET ${path} HTTP/1.1`,
    // Chromium takes no other host than its own loopback, and looks at no port.
    "Host: 127.0.0.1",
    "Connection: Upgrade",
    "Upgrade: websocket",
    `Sec-WebSocket-Key: ${headers["sec-websocket-key"]}`,
    `Sec-WebSocket-Version: ${headers["sec-websocket-version"]}`,
    ...(protocols ? [`Sec-WebSocket-Protocol: ${protocols}`] : []),
    "\r\n",
  ].join("\r\n");
};

/** As Chromium, it takes what RFC 6455 does not: go-rod sends a word and no 16 bytes of base64. The bound is ours. */
const websocketKey = /^[!-~]{1,256}$/;

const isWebSocketUpgrade = ({ method, headers }: IncomingMessage): boolean =>
  method === "GET" &&
  headers.upgrade?.toLowerCase() === "websocket" &&
  headers["sec-websocket-version"] === "13" &&
  websocketKey.test(headers["sec-websocket-key"] ?? "");

const refusalOf = async (request: IncomingMessage, isAuthorized: Authorizer): Promise<AgentReply | undefined> => {
  if (request.url?.split("?")[0] !== "/cdp") return refusals.not_found;
  if (!(await isAuthorized(request))) return unauthorized();
  if (!isWebSocketUpgrade(request)) return refusal("bad_request", "only a WebSocket upgrade of version 13 is taken");
  return undefined;
};

/**
 * The handler of upgrades: `GET /cdp` becomes a raw connection to Chromium's DevTools for the session that holds the
 * browser. Frames are not looked at. The socket counts as one of the lease's and is cut when that lease ends.
 */
export const createCdpProxy =
  (deps: CdpProxyDeps) =>
  async (request: IncomingMessage, client: Socket, head: Buffer, isAuthorized: Authorizer): Promise<void> => {
    client.on("error", () => client.destroy());
    client.setKeepAlive(true, keepAliveMs);
    const prove = proofsFor(request, deps.agentKey);
    const refused = await refusalOf(request, isAuthorized);
    if (refused) return refuse(client, refused, prove);
    const session = request.headers[sessionHeader];
    const purpose = request.headers[purposeHeader] === "fill" ? "fill" : undefined;
    const admitted = deps.leases.admit(typeof session === "string" ? session : "", client, purpose);
    if (admitted === "not_holder") return refuse(client, refusals.session_not_found, prove);
    if (admitted === "fill_in_progress") return refuse(client, refusals.fill_in_progress, prove);
    if (admitted === "resetting") return refuse(client, refusals.resetting, prove);
    if (admitted === "too_many") return refuse(client, refusals.too_many_requests, prove);

    const place = deps.devTools();
    const devTools = connect({ ...place.at, noDelay: true });
    const failed = (): void => refuse(client, refusals.browser_unhealthy, prove);
    devTools.once("error", failed);
    client.once("close", () => devTools.destroy());
    devTools.once("connect", async () => {
      devTools.off("error", failed);
      devTools.write(upgradeHead(request, place), "latin1");
      devTools.write(head);
      // Chromium's own answer, with the agent's proof.
      const answer = await readHttpHead(devTools).catch(() => undefined);
      if (!answer) return void client.destroy();
      const proof = prove(answer.status);
      client.write(proof ? withHeader(answer, proofHeader, proof) : answer.text, "latin1");
      // A Chromium that hangs never ends its side, and the socket would keep the lease in use.
      splice(client, devTools, { closeAtFirstEnd: true });
    });
  };
