/** A site of the holder before: pages, a service worker, a download, and a place to which pages report. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Site = {
  url: string;
  /** What pages have reported by a request to `/report?<text>`. */
  reports: string[];
  [Symbol.asyncDispose](): Promise<void>;
};

const worker = `
  addEventListener("install", () => skipWaiting());
  addEventListener("activate", (event) => event.waitUntil(clients.claim()));
`;

export const startSite = async (): Promise<Site> => {
  const reports: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    if (url.startsWith("/report?")) reports.push(decodeURIComponent(url.slice("/report?".length)));
    if (url === "/worker.js") response.setHeader("content-type", "text/javascript").end(worker);
    else if (url === "/file") response.setHeader("content-disposition", "attachment; filename=left.txt").end("left");
    else response.setHeader("content-type", "text/html").end("<!doctype html><title>site</title><input>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reports,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};
