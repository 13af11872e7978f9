/**
 * Joins an admitted client with a WebSocket server of this pod. The agent looks at no frame: that server answers the
 * handshake.
 */
import type { Socket } from "node:net";
import { readHttpHead, withHeader } from "../../platform/cdp/http-head.ts";
import { splice } from "../../platform/cdp/splice.ts";
import { proofHeader } from "../protocol/agent-proof.ts";
import { type AgentReply, refusals } from "./agent-reply.ts";
import type { AdmittedUpgrade } from "./upgrades.ts";

/**
 * `path`: of the upgrade at the server. `headers`: more for it. `timeoutMs`: for its answer; left out, only its end
 * ends the wait.
 */
type ServerPlace = { path: string; headers?: Record<string, string>; timeoutMs?: number };

/**
 * The upgrade for the server: the client's key, version and subprotocols. It has no Origin, which Chromium refuses, and
 * offers no compression, which costs more on this machine than it saves.
 */
const upgradeHead = ({ request: { headers } }: AdmittedUpgrade, place: ServerPlace): string => {
  const protocols = headers["sec-websocket-protocol"];
  return [
    `GET ${place.path} HTTP/1.1`,
    // Chromium takes no other host than its own loopback, and looks at no port.
    "Host: 127.0.0.1",
    "Connection: Upgrade",
    "Upgrade: websocket",
    `Sec-WebSocket-Key: ${headers["sec-websocket-key"]}`,
    `Sec-WebSocket-Version: ${headers["sec-websocket-version"]}`,
    ...(protocols ? [`Sec-WebSocket-Protocol: ${protocols}`] : []),
    ...Object.entries(place.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    "\r\n",
  ].join("\r\n");
};

/**
 * Sends the client's upgrade over a connected socket, passes on the server's answer with the agent's proof, and joins
 * the two. A server that gives no answer has the client refused with `noAnswer`.
 */
export const joinServer = async (
  upgrade: AdmittedUpgrade,
  server: Socket,
  place: ServerPlace,
  noAnswer: AgentReply = refusals.browser_unhealthy,
): Promise<void> => {
  const { client, head, prove, refuse } = upgrade;
  server.write(upgradeHead(upgrade, place), "latin1");
  server.write(head);
  const answer = await readHttpHead(server, place.timeoutMs).catch(() => undefined);
  if (!answer) {
    server.destroy();
    return refuse(noAnswer);
  }
  const proof = prove(answer.status);
  client.write(proof ? withHeader(answer, proofHeader, proof) : answer.text, "latin1");
  // A server that hangs never ends its side, and the socket would keep the lease in use.
  splice(client, server, { closeAtFirstEnd: true });
};
