/** A proxy as those that browsers are given, which tells what it was asked for. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { listeningPort } from "../../../src/platform/base/listening-port.ts";
import { splice } from "../../../src/platform/cdp/splice.ts";
import { ownAddress } from "./machine.ts";

export type TestParentOptions = {
  /** It is spoken to over TLS. */
  tls?: { key: string; cert: string };
  /** `user:password` that it wants. */
  credentials?: string;
  /** It reads what is in TLS tunnels, and answers each request there itself. */
  terminate?: { key: string; cert: string };
  /** Where it takes all names for; left out, nowhere. */
  names?: string;
};

export type TestParent = {
  port: number;
  /** `CONNECT host:port` or `GET url`, in order. */
  asked: string[];
  /** The cookies of requests in tunnels that it reads. */
  cookies: string[];
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts it on the machine's own address. */
export const startTestParent = async ({
  tls,
  credentials,
  terminate,
  names,
}: TestParentOptions = {}): Promise<TestParent> => {
  const asked: string[] = [];
  const cookies: string[] = [];
  const sockets = new Set<Socket>();
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString("base64")}`;
  const mayPass = ({ headers }: IncomingMessage): boolean => !wanted || headers["proxy-authorization"] === wanted;
  const server: Server = tls ? (createTlsServer(tls) as unknown as Server) : createServer();
  const inside = createServer((asking, response) => {
    asked.push(`INSIDE ${asking.method} ${asking.headers.host}${asking.url}`);
    if (asking.headers.cookie) cookies.push(asking.headers.cookie);
    response.end("answered by the proxy");
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("request", (asking, response) => {
    asked.push(`${asking.method} ${asking.url}`);
    if (!mayPass(asking)) return void response.writeHead(407, { "proxy-authenticate": "Basic" }).end();
    const url = new URL(asking.url ?? "");
    const host = /^[\d.]+$|^\[/.test(url.hostname) ? url.hostname.replace(/^\[|\]$/g, "") : names;
    const on = request({
      host,
      port: url.port || 80,
      path: url.pathname + url.search,
      method: asking.method,
      headers: Object.fromEntries(Object.entries(asking.headers).filter(([name]) => name !== "proxy-authorization")),
    });
    on.on("response", (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers)));
    on.on("error", () => response.destroy());
    asking.pipe(on);
  });
  server.on("connect", (asking: IncomingMessage, client: Socket) => {
    asked.push(`CONNECT ${asking.url}`);
    client.on("error", () => client.destroy());
    if (!mayPass(asking))
      return void client.end("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n");
    if (terminate) {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      const socket = new TLSSocket(client, { isServer: true, ...terminate });
      socket.on("error", () => socket.destroy());
      inside.emit("connection", socket);
      return;
    }
    const { hostname, port } = new URL(`http://${asking.url}`);
    const far = connect({ host: /^[\d.]+$/.test(hostname) ? hostname : (names ?? "192.0.2.255"), port: Number(port) });
    far.once("error", () => client.destroy());
    far.once("connect", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      splice(client, far);
    });
  });
  server.listen(0, ownAddress);
  await once(server, "listening");
  return {
    port: listeningPort(server),
    asked,
    cookies,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};
