/**
 * Servers that count what arrives, by the attempt that it belongs to: the path of a request, or a port of the attempt's
 * own.
 */
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer as createHttpServer, type Server } from "node:http";
import { type AddressInfo, createServer, type Server as TcpServer } from "node:net";

export type HitServers = {
  /** The HTTP server's port. */
  port: number;
  /** Ports of a TCP and of a UDP server for this attempt alone. */
  portsOf(attempt: string): Promise<{ tcp: number; udp: number }>;
  /** How much has arrived for this attempt. */
  hits(attempt: string): number;
  forget(): void;
  [Symbol.asyncDispose](): Promise<void>;
};

const answers: Record<string, [type: string, body: string]> = {
  js: ["text/javascript", "1"],
  css: ["text/css", ""],
  txt: ["application/octet-stream", "a file"],
};

/** HTTP on `host`, where attempt A is whoever asks for `/A` or `/A.EXTENSION`; TCP and UDP on all addresses. */
export const startHitServers = async (host: string, port = 0): Promise<HitServers> => {
  const counts = new Map<string, number>();
  const count = (attempt: string): void => void counts.set(attempt, (counts.get(attempt) ?? 0) + 1);
  const attemptOf = (url = ""): string =>
    url
      .replace(/^https?:\/\/[^/]+/, "")
      .slice(1)
      .split(/[.?]/)[0] ?? "";
  const web: Server = createHttpServer((request, response) => {
    count(attemptOf(request.url));
    const [type, body] = answers[/\.(\w+)$/.exec(request.url ?? "")?.[1] ?? ""] ?? [
      "text/html",
      "<title>Forbidden</title>",
    ];
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-headers", "*");
    response.setHeader("content-type", type);
    if (type === "application/octet-stream") response.setHeader("content-disposition", "attachment");
    response.end(body);
  });
  web.on("upgrade", (request, socket) => {
    count(attemptOf(request.url));
    socket.destroy();
  });
  // As a proxy: the attempt is the host's first label.
  web.on("connect", (request, socket) => {
    count(`proxy-${request.url?.split(".")[0]}`);
    socket.destroy();
  });
  web.on("clientError", (_, socket) => socket.destroy());
  web.listen(port, host);
  await once(web, "listening");
  const others: (TcpServer | UdpSocket)[] = [];
  const ports = new Map<string, { tcp: number; udp: number }>();
  return {
    port: (web.address() as AddressInfo).port,
    async portsOf(attempt) {
      const known = ports.get(attempt);
      if (known) return known;
      const tcp = createServer((socket) => {
        count(attempt);
        socket.on("error", () => undefined).destroy();
      }).listen(0);
      const udp = createSocket("udp4", () => count(attempt));
      udp.bind(0);
      await Promise.all([once(tcp, "listening"), once(udp, "listening")]);
      others.push(tcp, udp);
      const made = { tcp: (tcp.address() as AddressInfo).port, udp: udp.address().port };
      ports.set(attempt, made);
      return made;
    },
    hits: (attempt) => counts.get(attempt) ?? 0,
    forget: () => counts.clear(),
    async [Symbol.asyncDispose]() {
      const all = [web, ...others];
      const closed = all.map((server) => once(server, "close"));
      for (const server of all) server.close();
      web.closeAllConnections();
      await Promise.all(closed);
    },
  };
};
