import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hostPort } from "../../../src/platform/base/host-port.ts";

export type PagesSite = {
  /** `address:port`. */
  host: string;
  url: string;
  /** Serves an answer at a new path and returns its URL. */
  page(body: string, headers?: Record<string, string>, status?: number): string;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A web server on this address whose pages a test makes. */
export const startPagesSite = async (address: string): Promise<PagesSite> => {
  const pages = new Map<string, (response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    const answer = pages.get(request.url ?? "");
    if (answer) answer(response);
    else response.writeHead(200, { "content-type": "text/html" }).end("<title>Allowed</title><body></body>");
  });
  server.listen(0, address);
  await once(server, "listening");
  const host = hostPort(address, (server.address() as AddressInfo).port);
  return {
    host,
    url: `http://${host}/`,
    page(body, headers = {}, status = 200) {
      const path = `/page-${pages.size}`;
      pages.set(path, (response) => response.writeHead(status, { "content-type": "text/html", ...headers }).end(body));
      return `http://${host}${path}`;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
