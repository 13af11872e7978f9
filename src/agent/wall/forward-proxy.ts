/**
 * The HTTP proxy that is a browser's only way out of its network namespace. It listens on a Unix socket and takes what a browser sends
 * to its proxy: `CONNECT host:port` for TLS and WebSockets, and requests with an absolute `http:` URL. Everything else is refused.
 */
import {
  Agent,
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { readHttpHead } from "../../cdp/http-head.ts";
import { splice } from "../../cdp/splice.ts";
import type { Target } from "../../domain/host-pattern.ts";
import { canonicalHost } from "../../domain/network-judge.ts";
import type { ParentProxy } from "../../protocol/browser-setup.ts";
import { Refused, type WayOut } from "./way-out.ts";

/** Connections of the browser at once. Chromium opens 32 to a proxy for pages, and more for WebSockets. */
const maxConnections = 1024;

/** Idle connections to servers that are kept for further requests, for each server. */
const maxIdle = 8;
const headersTimeoutMs = 30_000;
const idleMs = 60_000;

/** A parent proxy may connect through others before it answers. */
const tunnelMs = 30_000;

/** Names the reason of a refusal to whoever looks at the browser's traffic. */
const reasonHeader = "x-browserpool-refused";

export type ForwardProxy = { [Symbol.asyncDispose](): Promise<void> };

/** `host:port` as CONNECT has it. */
const targetOfAuthority = (authority: string): Target | undefined => {
  const [, text = "", digits = ""] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(authority) ?? [];
  const host = text && canonicalHost(text);
  const port = Number(digits);
  return host && port >= 1 && port <= 65535 ? { ...host, port } : undefined;
};

const targetOfUrl = (url: URL): Target | undefined => {
  const host = canonicalHost(url.hostname);
  return host && { ...host, port: Number(url.port || 80) };
};

const credentialsOf = ({ username, password }: ParentProxy): string | undefined =>
  username === undefined && password === undefined
    ? undefined
    : `Basic ${Buffer.from(`${username ?? ""}:${password ?? ""}`).toString("base64")}`;

/** A status and a reason for the browser. What a server or the system says in errors stays here: it could tell of the network. */
const failureOf = (error: unknown): { status: number; reason: string } =>
  error instanceof Refused
    ? { status: 403, reason: error.message }
    : { status: 502, reason: "the host can't be reached" };

const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The headers without those that concern one connection. */
const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders => {
  const named = new Set((headers.connection ?? "").toLowerCase().split(/\s*,\s*/));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name) && !named.has(name)));
};

/** Opens a tunnel to the target through a parent proxy. */
const tunnelThrough = async (parent: ParentProxy, authority: string, wayOut: WayOut): Promise<Socket> => {
  const socket = await wayOut.toParent(parent);
  try {
    const credentials = credentialsOf(parent);
    const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
    if (credentials) lines.push(`Proxy-Authorization: ${credentials}`);
    socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
    const { status } = await readHttpHead(socket, tunnelMs);
    if (status < 200 || status > 299) throw new Error(`the proxy answered ${status}`);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

const refuseTunnel = (client: Duplex, status: number, reason: string): void => {
  const body = `${reason}\n`;
  const head = [
    `HTTP/1.1 ${status} Refused`,
    `${reasonHeader}: ${reason}`,
    "Content-Type: text/plain",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  client.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => client.destroy());
};

const refuse = (response: ServerResponse, status: number, reason: string): void => {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { [reasonHeader]: reason, "content-type": "text/plain", connection: "close" });
  response.end(`${reason}\n`);
};

/** Pools of connections for plain requests: one for servers, and one for each parent proxy. */
const createAgents = (wayOut: WayOut) => {
  const open = (dialing: Promise<Socket>, done: (error: Error | null, socket: Duplex) => void): undefined => {
    dialing.then(
      (socket) => done(null, socket),
      // Node's types want a socket beside an error.
      (error: Error) => done(error, undefined as unknown as Duplex),
    );
  };
  const pool = (connect: (host: string, port: number) => Promise<Socket>): Agent => {
    const agent = new Agent({ keepAlive: true, maxFreeSockets: maxIdle, timeout: idleMs });
    agent.createConnection = ({ host, port }, done) =>
      open(connect(host ?? "", Number(port)), (error, socket) => done?.(error, socket));
    return agent;
  };
  const toTarget = pool((host, port) => {
    const target = canonicalHost(host.includes(":") ? `[${host}]` : host);
    return target ? wayOut.direct({ ...target, port }) : Promise.reject(new Error("no host"));
  });
  const toParents = new Map<ParentProxy, Agent>();
  return {
    toTarget,
    toParent(parent: ParentProxy): Agent {
      const agent = toParents.get(parent) ?? pool(() => wayOut.toParent(parent));
      toParents.set(parent, agent);
      return agent;
    },
    close(): void {
      for (const agent of [toTarget, ...toParents.values()]) agent.destroy();
    },
  };
};

/** Passes a request on, and its answer back. */
const forward = async ({
  request,
  response,
  upstream,
}: {
  request: IncomingMessage;
  response: ServerResponse;
  upstream: ClientRequest;
}): Promise<void> => {
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    upstream.once("response", resolve);
    upstream.once("error", reject);
    // Chromium changes protocols in tunnels only.
    upstream.once("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("the server changed the protocol"));
    });
  });
  response.once("close", () => upstream.destroy());
  const sent = pipeline(request, upstream);
  sent.catch(() => undefined);
  const answer = await answered;
  response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
  await pipeline(answer, response);
};

/** Starts the proxy at this path of a Unix socket. Disposing it cuts everything. */
export const startForwardProxy = async (path: string, wayOut: WayOut): Promise<ForwardProxy> => {
  const agents = createAgents(wayOut);
  const sockets = new Set<Duplex>();
  const keep = <T extends Duplex>(socket: T): T => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    return socket;
  };

  const serveRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = URL.parse(request.url ?? "");
    const target = url?.protocol === "http:" ? targetOfUrl(url) : undefined;
    if (!url || !target) return refuse(response, 400, "only http URLs and CONNECT are taken here");
    const headers = { ...endToEnd(request.headers), host: url.host };
    const parent = await wayOut.parentOf(target);
    const credentials = parent && credentialsOf(parent);
    const upstream = httpRequest({
      method: request.method ?? "GET",
      host: target.host,
      port: target.port,
      path: parent ? `http://${url.host}${url.pathname}${url.search}` : `${url.pathname}${url.search}`,
      headers: { ...headers, ...(credentials && { "proxy-authorization": credentials }) },
      agent: parent ? agents.toParent(parent) : agents.toTarget,
      setHost: false,
    });
    await forward({ request, response, upstream });
  };

  const serveTunnel = async (request: IncomingMessage, client: Socket, head: Buffer): Promise<void> => {
    const target = targetOfAuthority(request.url ?? "");
    if (!target) return refuseTunnel(client, 400, "CONNECT wants a host and a port");
    const authority = `${target.host.includes(":") ? `[${target.host}]` : target.host}:${target.port}`;
    const parent = await wayOut.parentOf(target);
    const far = keep(parent ? await tunnelThrough(parent, authority, wayOut) : await wayOut.direct(target));
    if (client.destroyed) return void far.destroy();
    client.write("HTTP/1.1 200 OK\r\n\r\n");
    far.write(head);
    splice(client, far);
  };

  const server = createServer({ headersTimeout: headersTimeoutMs, requestTimeout: 0, keepAliveTimeout: idleMs });
  server.maxConnections = maxConnections;
  server.on("connection", keep);
  server.on("request", (request, response) => {
    serveRequest(request, response).catch((error: unknown) => {
      const { status, reason } = failureOf(error);
      refuse(response, status, reason);
    });
  });
  server.on("connect", (request, client: Socket, head) => {
    serveTunnel(request, client, head).catch((error: unknown) => {
      const { status, reason } = failureOf(error);
      refuseTunnel(client, status, reason);
    });
  });
  server.on("upgrade", (_, client) => refuseTunnel(client, 400, "WebSockets go through CONNECT"));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      agents.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};
