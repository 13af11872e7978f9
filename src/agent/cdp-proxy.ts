import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { readHttpHead, withHeader } from "../cdp/http-head.ts";
import { splice } from "../cdp/splice.ts";
import { proofHeader } from "../protocol/agent-proof.ts";
import { refusals } from "./agent-reply.ts";
import type { DevToolsPlace } from "./connect-dev-tools.ts";
import type { ServeUpgrade } from "./upgrades.ts";

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

/** `GET /cdp` becomes a raw connection to Chromium's DevTools. Frames are not looked at. */
export const createCdpProxy =
  ({ devTools: placeNow }: { devTools(): DevToolsPlace }): ServeUpgrade =>
  ({ request, client, head, prove, refuse }) => {
    const place = placeNow();
    const devTools = connect({ ...place.at, noDelay: true });
    const failed = (): void => refuse(refusals.browser_unhealthy);
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
