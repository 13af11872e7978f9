/** A proxy server of a test: forwards requests and tunnels, by HTTP or TLS, with or without a login. */
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import type { TestCertificates } from "./test-certificates.ts";

export type ForwardingProxy = {
  port: number;
  /** Every request: method and target, in order. */
  seen: string[];
  [Symbol.asyncDispose](): Promise<void>;
};

export type ForwardingProxyOptions = {
  /** The address to listen on. */
  host: string;
  /** Speaks TLS with this certificate. */
  tls?: Pick<TestCertificates, "certificate" | "key">;
  /** `user:password` that requests must have. */
  login?: string;
  /** Where each `host:port` that may be asked for really is. Others are 502. */
  sites: Record<string, { host: string; port: number }>;
  /** The address of this machine from which the proxy reaches the sites. */
  from?: string;
  /** Called for a tunnel instead of opening it. */
  onTunnel?: (client: Duplex) => void;
};

export const startForwardingProxy = async (options: ForwardingProxyOptions): Promise<ForwardingProxy> => {
  const { host, tls, login, sites, onTunnel, from } = options;
  const outward = from === undefined ? {} : { localAddress: from };
  const seen: string[] = [];
  const sockets = new Set<Duplex>();
  const mayPass = ({ headers }: IncomingMessage): boolean =>
    login === undefined || headers["proxy-authorization"] === `Basic ${Buffer.from(login).toString("base64")}`;
  const server: Server = tls ? createTlsServer({ cert: tls.certificate, key: tls.key }) : createServer();
  server.on(tls ? "secureConnection" : "connection", (socket: Duplex) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  server.on("request", (asked, answer) => {
    seen.push(`${asked.method} ${asked.url}`);
    const url = new URL(asked.url ?? "");
    const site = sites[`${url.hostname}:${url.port || 80}`];
    if (!mayPass(asked) || !site) return void answer.writeHead(site ? 407 : 502).end();
    const { "proxy-authorization": _, "proxy-connection": __, ...headers } = asked.headers;
    const path = url.pathname + url.search;
    const forwarded = request({ ...site, ...outward, path, headers: { ...headers, host: url.host } }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    forwarded.on("error", () => answer.destroy());
    forwarded.end();
  });
  server.on("connect", (asked: IncomingMessage, client: Duplex) => {
    seen.push(`CONNECT ${asked.url}`);
    const site = sites[asked.url ?? ""];
    if (!mayPass(asked)) return void client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    if (onTunnel) return onTunnel(client);
    if (!site) return void client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    const target = connect({ ...site, ...outward }, () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(target).pipe(client);
    });
    sockets.add(target);
    target.on("error", () => client.destroy());
    client.on("close", () => target.destroy());
  });
  server.listen(0, host);
  await new Promise((done) => server.once("listening", done));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
};
