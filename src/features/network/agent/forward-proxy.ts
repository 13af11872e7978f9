/**
 * The HTTP proxy that is a browser's only way out of its network namespace. It listens on a Unix socket and takes what
 * a browser sends to its proxy: `CONNECT host:port` for TLS and WebSockets, and requests with an absolute `http:` URL.
 * Everything else is refused.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ParentProxy } from "../../../core/protocol/browser-setup.ts";
import type { Target } from "../../../platform/addresses/host-pattern.ts";
import { canonicalHost } from "../../../platform/addresses/network-filter.ts";
import { hostPort } from "../../../platform/base/host-port.ts";
import { readHttpHead } from "../../../platform/cdp/http-head.ts";
import { splice } from "../../../platform/cdp/splice.ts";
import { createServer } from "../../../platform/net/node-http.ts";
import { credentialsOf } from "../../proxies/rules/proxy-authorization.ts";
import { createForwardRequest } from "./forward-request.ts";
import { failureOf, refuseRequest, refuseTunnel } from "./refusals.ts";
import { ParentFailed, type WayOut } from "./way-out.ts";

/** Connections of the browser at once. Chromium opens 32 to a proxy for pages, and more for WebSockets. */
const maxConnections = 1024;

const headersTimeoutMs = 30_000;
const idleMs = 60_000;

/** A parent proxy may connect through others before it answers. */
const tunnelMs = 30_000;

export type ForwardProxy = {
  /**
   * Connections take this way from now on. Those that are open or being opened are cut; with `keepsAllowed` those of
   * tunnels stay whose target the way allows.
   */
  use(wayOut: WayOut, options: { keepsAllowed: boolean }): void;
  [Symbol.asyncDispose](): Promise<void>;
};

/** `host:port` as CONNECT has it. */
const targetOfAuthority = (authority: string): Target | undefined => {
  const [, text = "", digits = ""] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(authority) ?? [];
  const host = text && canonicalHost(text);
  const port = Number(digits);
  return host && port >= 1 && port <= 65535 ? { ...host, port } : undefined;
};

const connectThrough = async (parent: ParentProxy, authority: string, socket: Socket): Promise<void> => {
  const credentials = credentialsOf(parent);
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (credentials) lines.push(`Proxy-Authorization: ${credentials}`);
  socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  const { status } = await readHttpHead(socket, tunnelMs);
  if (status === 407) throw new ParentFailed("the proxy refuses the user name or password");
  if (status < 200 || status > 299) throw new ParentFailed(`the proxy answered ${status}`);
};

/** Opens a tunnel to the target through a parent proxy. */
const tunnelThrough = async (parent: ParentProxy, authority: string, wayOut: WayOut): Promise<Socket> => {
  const socket = await wayOut.toParent(parent);
  try {
    await connectThrough(parent, authority, socket);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

/** Starts the proxy at this path of a Unix socket. Disposing it cuts everything. */
export const startForwardProxy = async (path: string, wayOut: WayOut): Promise<ForwardProxy> => {
  let way = { out: wayOut, requests: createForwardRequest(wayOut) };
  /** The open connections; both of a tunnel with its target, once it is open. */
  const sockets = new Map<Duplex, Target | undefined>();
  const keep = <T extends Duplex>(socket: T): T => {
    sockets.set(socket, undefined);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    return socket;
  };

  const serveTunnel = async (request: IncomingMessage, client: Socket, head: Buffer): Promise<void> => {
    const target = targetOfAuthority(request.url ?? "");
    if (!target) return refuseTunnel(client, { status: 400, reason: "CONNECT wants a host and a port" });
    const authority = hostPort(target.host, target.port);
    const { out } = way;
    const parent = await out.parentOf(target);
    const far = keep(parent ? await tunnelThrough(parent, authority, out) : await out.direct(target));
    // Whatever closes this proxy, or gives it another way, has destroyed the client.
    if (client.destroyed) return void far.destroy();
    client.write("HTTP/1.1 200 OK\r\n\r\n");
    far.write(head);
    for (const socket of [client, far]) sockets.set(socket, target);
    splice(client, far);
  };

  const server = createServer({ headersTimeout: headersTimeoutMs, requestTimeout: 0, keepAliveTimeout: idleMs });
  server.maxConnections = maxConnections;
  server.on("connection", keep);
  server.on("request", (request, response) => {
    const { out, requests } = way;
    requests.serve(request, response).catch((error: unknown) => {
      const failure = failureOf(error);
      if (failure.by === "host" && !out.tellsOfHosts) response.destroy();
      else refuseRequest(request, response, failure);
    });
  });
  server.on("connect", (request, client: Socket, head) => {
    serveTunnel(request, client, head).catch((error: unknown) => refuseTunnel(client, failureOf(error)));
  });
  server.on("upgrade", (_, client) => refuseTunnel(client, { status: 400, reason: "WebSockets go through CONNECT" }));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // A connection that can't be accepted, for want of descriptors, is lost to the browser alone.
  server.on("error", () => undefined);
  const cut = (mayStay: (target: Target) => boolean = () => false): void => {
    way.requests.close();
    for (const [socket, target] of sockets) if (!target || !mayStay(target)) socket.destroy();
  };
  return {
    use(next, { keepsAllowed }) {
      cut(keepsAllowed ? next.allows : undefined);
      way = { out: next, requests: createForwardRequest(next) };
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
};
