/** A program that answers on a browser's address as an agent does, but is not the agent of its pod. */
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { nonceIn, proofHeader, proofOf, upgradeTo } from "../../src/core/protocol/agent-proof.ts";
import { websocketAccept } from "./websocket-accept.ts";

/**
 * What it sends as its proof. `none`: nothing. `another-key`: a right proof, by a key that is not the pod's. `replay`:
 * the proof of an earlier answer of the real agent.
 */
export type ImpostorKind = "none" | "another-key" | "replay";

export type Impostor = {
  address: string;
  /** The requests that it got, as `PUT /lease`. */
  asked: string[];
  /** What came over upgraded connections. */
  heard(): string;
  [Symbol.asyncDispose](): Promise<void>;
};

type ImpostorOptions = {
  kind: ImpostorKind;
  host?: string;
  port?: number;
  /** `replay`: the key of the real agent, with which the recorded answers were proven. */
  recordedWith?: KeyObject;
};

/** The state that a willing agent answers: whatever lease it is asked to take, it has. */
const stateAfter = (body: string): object => {
  const { session_id, epoch = 0, seq = 0, request } = body === "" ? {} : (JSON.parse(body) as Record<string, never>);
  const lease = session_id && { session_id, epoch, seq, connections: 0, bound_at: new Date().toISOString(), request };
  return { pod_uid: "pod", fence: { epoch, seq }, binding: null, resetting: false, lease: lease ?? null };
};

/** Listens when it resolves. */
export const startImpostor = async ({
  kind,
  host = "127.0.0.1",
  port = 0,
  recordedWith,
}: ImpostorOptions): Promise<Impostor> => {
  const key = kind === "replay" && recordedWith ? recordedWith : createSecretKey(randomBytes(32));
  const recordedNonce = randomBytes(16).toString("base64url");
  const proof = (
    request: IncomingMessage,
    status: number,
    body: string,
    path = request.url ?? "",
  ): string | undefined => {
    const nonce = kind === "replay" ? recordedNonce : nonceIn(request.headers);
    if (kind === "none" || nonce === undefined) return undefined;
    return proofOf(key, { nonce, method: request.method ?? "", path, status, body });
  };
  const asked: string[] = [];
  const heard: Buffer[] = [];
  const answer = async (request: IncomingMessage): Promise<string> => {
    const body = await text(request);
    asked.push(`${request.method} ${request.url}`);
    return JSON.stringify(request.url === "/readyz" ? { ok: true } : stateAfter(request.method === "PUT" ? body : ""));
  };
  const server = createServer(async (request, response) => {
    const body = await answer(request);
    const proven = proof(request, 200, body);
    response.writeHead(200, proven ? { [proofHeader]: proven } : {}).end(body);
  });
  server.on("upgrade", (request, socket: Socket, head: Buffer) => {
    asked.push("upgrade");
    heard.push(head);
    socket.on("data", (chunk) => heard.push(chunk)).on("error", () => socket.destroy());
    const proven = proof(request, 101, upgradeTo("/cdp").body, upgradeTo("/cdp").path);
    const lines = [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${websocketAccept(request.headers["sec-websocket-key"] ?? "")}`,
      ...(proven ? [`${proofHeader}: ${proven}`] : []),
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    address: `${host}:${(server.address() as AddressInfo).port}`,
    asked,
    heard: () => Buffer.concat(heard).toString("latin1"),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
};
