import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { listeningPort } from "../../src/platform/base/listening-port.ts";
import type { TestCertificates } from "../../test/support/test-certificates.ts";
import { ownAddress } from "../../test/support/wall/machine.ts";

/** Files of a page, and the size of each, bytes: about what pages load. */
const files = 100;
const fileBytes = 10_000;

type ResourcesSite = {
  /** A page with 100 resources that no cache keeps. */
  url: string;
  [Symbol.asyncDispose](): Promise<void>;
};

const script = Buffer.alloc(fileBytes, " ");

/**
 * Starts it on the machine's own address, which browsers behind a wall reach, too. `certificates`: it speaks TLS with
 * them.
 */
export const startResourcesSite = async (certificates?: TestCertificates): Promise<ResourcesSite> => {
  const tags = Array.from({ length: files }, (_, index) => `<script src="/${index}.js"></script>`);
  const page = `<!doctype html><title>page</title>${tags.join("")}`;
  const answer: RequestListener = (request, response) => {
    const isPage = request.url === "/";
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("Content-Type", isPage ? "text/html" : "text/javascript");
    response.end(isPage ? page : script);
  };
  const server = certificates
    ? createTlsServer({ cert: certificates.certificate, key: certificates.key }, answer)
    : createServer(answer);
  server.keepAliveTimeout = 60_000;
  server.listen(0, ownAddress);
  await once(server, "listening");
  return {
    url: `${certificates ? "https" : "http"}://${ownAddress}:${listeningPort(server)}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
};
