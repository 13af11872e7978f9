/**
 * What a driver finds in the place of Chromium's port: the two answers that it asks for, and the browser's WebSocket,
 * which the agent joins with DevTools as it does those of clients.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { connectDevTools, type DevToolsPlace } from "../../../../core/agent/connect-dev-tools.ts";
import type { CdpConnection } from "../../../../platform/cdp/cdp-connection.ts";
import { targetsOf, versionOf } from "../../../dev-tools/agent/dev-tools-calls.ts";
import { devToolsAddress } from "./driver-command.ts";

/** For an answer of Chromium, ms. */
const timeoutMs = 5000;

/** Most bytes of an answer of Chromium: pages say themselves how long their titles and URLs are. */
const maxBytes = 32 * 1024 * 1024;

type BridgeDeps = {
  devTools(): DevToolsPlace;
  /** Joins the WebSocket with DevTools, or closes it. */
  join(upgrade: { request: IncomingMessage; client: Socket; head: Buffer }): Promise<void>;
};

const browserPath = "/devtools/browser";

/** A driver waits for a tab, so it gets one where none is open. */
const targetsWithPage = async (cdp: CdpConnection): Promise<object> => {
  const targets = await targetsOf(cdp);
  if (targets.some(({ type }) => type === "page")) return targets;
  await cdp.send("Target.createTarget", { url: "about:blank" }, { timeoutMs });
  return await targetsOf(cdp);
};

/** The answer at a path, which Chromium gives by CDP. */
const answerAt = async (path: string | undefined, devTools: DevToolsPlace): Promise<object> => {
  await using cdp = await connectDevTools(devTools, { maxBytes });
  if (path !== "/json/version") return await targetsWithPage(cdp);
  return {
    ...(await versionOf(cdp)),
    // A driver reads no further without it.
    "WebKit-Version": "537.36 (@0)",
    webSocketDebuggerUrl: `ws://${devToolsAddress}${browserPath}`,
  };
};

/** Listens on this socket. The server ends with what it has joined. */
export const startDevToolsBridge = async (socket: string, { devTools, join }: BridgeDeps): Promise<AsyncDisposable> => {
  const open = new Set<Socket>();
  const server = createServer((request, response) => {
    answerAt(request.url, devTools()).then(
      (body) => response.setHeader("content-type", "application/json").end(JSON.stringify(body)),
      () => response.writeHead(503).end(),
    );
  });
  server.on("connection", (connection) => {
    open.add(connection);
    connection.once("close", () => open.delete(connection));
  });
  server.on("upgrade", (request, client: Socket, head) => {
    client.on("error", () => client.destroy());
    join({ request, client, head }).catch(() => client.destroy());
  });
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(socket, () => listening.resolve());
  await listening.promise;
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      for (const connection of open) connection.destroy();
    },
  };
};
