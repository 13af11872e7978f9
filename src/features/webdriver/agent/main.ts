/**
 * The program of a process for WebDriver BiDi (serve-bidi.ts). It takes one upgrade on the socket that it was given,
 * connects to the browser's DevTools that a header of it names, and ends with the first of the two connections.
 */
import { createServer, type IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { openCdpSocket } from "../../../platform/cdp/cdp-socket.ts";
import { createBidiSession } from "./bidi-session.ts";
import { createClientSocket } from "./client-socket.ts";
import { type Message, readCommand } from "./command.ts";
import { startMapper } from "./mapper.ts";
import { devToolsHeader, promptsHeader, socketFd } from "./process-contract.ts";

/** Longest message of a client, bytes. */
const maxMessageBytes = 16 * 1024 * 1024;

/** Longest message of the browser, bytes. */
const maxBrowserMessageBytes = 64 * 1024 * 1024;

const connectMs = 10_000;

const websockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: maxMessageBytes,
});

const accept = (request: IncomingMessage, socket: Socket, head: Buffer): Promise<WebSocket> =>
  new Promise((resolve) => websockets.handleUpgrade(request, socket, head, resolve));

const connectBrowser = async (url: string): Promise<WebSocket> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), connectMs);
  const devTools = await openCdpSocket({ url, headers: {} }, late.signal, { maxMessageBytes: maxBrowserMessageBytes });
  clearTimeout(timer);
  return devTools;
};

const serve = async (request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> => {
  const devTools = await connectBrowser(String(request.headers[devToolsHeader]));
  let tell = (_message: Message): void => undefined;
  const mapper = await startMapper(devTools, (message) => tell(message));
  const client = createClientSocket(await accept(request, socket, head), (text) => {
    const read = readCommand(text);
    if ("command" in read) session.take(read.command);
    else client.send(read.answer);
  });
  const prompts = request.headers[promptsHeader];
  const session = createBidiSession({
    mapper,
    send: client.send,
    end: (why) => client.close("done", why),
    ...(typeof prompts === "string" && { usual: { unhandledPromptBehavior: JSON.parse(prompts) } }),
  });
  tell = session.tell;
  devTools.once("close", () => client.close("failed", "the browser closed its connection"));
  process.on("uncaughtException", () => client.close("failed", "the connection has failed"));
};

// The mapper leaves promises that nobody waits for; in the tab for which it was written, a rejected one is a line of
// the console.
process.on("unhandledRejection", () => undefined);

const socket = new Socket({ fd: socketFd, readable: true, writable: true });
socket.once("close", () => process.exit());
const server = createServer();
server.on("upgrade", (request, upgraded: Socket, head) => {
  serve(request, upgraded, head).catch(() => process.exit(1));
});
server.emit("connection", socket);
