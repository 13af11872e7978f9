import { once } from "node:events";
import { readdir } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { followSessionOutcome } from "../../../../src/features/sites/agent/session-outcome.ts";

/** A browser with one page, which begins to navigate and then tells events that CDP does not have. */
const startRubbishBrowser = async (events: object[]): Promise<WebSocketServer> => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", (socket) => {
    const tell = (event: object): void => socket.send(JSON.stringify(event));
    socket.on("message", (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: number; method: string };
      socket.send(JSON.stringify({ id, result: method === "Browser.getVersion" ? { userAgent: "x" } : {} }));
      if (method !== "Target.setAutoAttach") return;
      const targetInfo = { targetId: "page", type: "page" };
      tell({ method: "Target.attachedToTarget", params: { sessionId: "s", targetInfo } });
      const request = { url: "https://example.com/", method: "GET", headers: {} };
      const params = { requestId: "1", frameId: "page", type: "Document", request };
      tell({ method: "Network.requestWillBeSent", params, sessionId: "s" });
      for (const event of events) tell({ ...event, sessionId: "s" });
    });
  });
  await once(server, "listening");
  return server;
};

const observe = async (server: WebSocketServer): Promise<void> => {
  const { port } = server.address() as AddressInfo;
  const place = { at: { host: "127.0.0.1", port }, path: "/" };
  const options = { place, ignored: [], isProxied: false, exampleAddress: undefined, note: () => undefined };
  await followSessionOutcome(options, AbortSignal.timeout(20_000));
};
const close = (server: WebSocketServer): void => {
  for (const client of server.clients) client.terminate();
  server.close();
};

test.each([
  ["no frame", { method: "Page.frameNavigated", params: {} }],
  ["no parameters", { method: "Network.loadingFinished" }],
])("an event with %s ends the observation, not the agent", async (_what, event) => {
  const server = await startRubbishBrowser([event]);
  try {
    // An error that nobody catches would fail this test.
    await expect(observe(server)).resolves.toBeUndefined();
    expect(server.clients.size).toBeLessThanOrEqual(1);
  } finally {
    close(server);
  }
});

test("an observation leaves no thread", async () => {
  const server = await startRubbishBrowser([{ method: "Network.loadingFinished" }]);
  const threads = async (): Promise<number> => (await readdir("/proc/self/task")).length;
  try {
    // The first one may start threads of the process that stay.
    await observe(server);
    const before = await threads();
    for (let session = 0; session < 5; session += 1) await observe(server);
    expect(await threads()).toBeLessThan(before + 5);
  } finally {
    close(server);
  }
});
