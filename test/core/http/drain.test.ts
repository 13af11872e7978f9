import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Drainable, drainable } from "../../../src/core/http/drain.ts";

const parts = { agent: new Agent({ keepAlive: true }), server: createServer() };
let drain: Drainable["drain"];
/** Requests that were taken and are not answered yet. */
let taken: ServerResponse[];

beforeEach(async () => {
  parts.agent = new Agent({ keepAlive: true, maxSockets: 1 });
  parts.server = createServer();
  taken = [];
  ({ drain } = drainable(parts.server));
  parts.server.on("request", (asked, response) => {
    if (asked.url === "/wait") taken.push(response);
    else response.end("served");
  });
  parts.server.listen(0, "127.0.0.1");
  await once(parts.server, "listening");
});
afterEach(() => {
  parts.agent.destroy();
  parts.server.closeAllConnections();
  parts.server.close();
});

const get = async (path: string, agent?: Agent): Promise<{ connection: string | undefined; body: string }> => {
  const { port } = parts.server.address() as AddressInfo;
  const sent = request({ port, host: "127.0.0.1", path, ...(agent && { agent }) }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { connection: response.headers.connection, body: await text(response) };
};

describe("a server that drains", () => {
  test("answers every request, and tells callers to close their connections", async () => {
    expect(await get("/", parts.agent)).toEqual({ connection: "keep-alive", body: "served" });
    const waiting = get("/wait");
    while (taken.length === 0) await once(parts.server, "request");
    const drained = drain(2000, () => false);
    expect(await get("/", parts.agent)).toEqual({ connection: "close", body: "served" });
    expect(await get("/")).toEqual({ connection: "close", body: "served" });
    for (const response of taken) response.end("at last");
    expect(await waiting).toEqual({ connection: "close", body: "at last" });
    await drained;
  });

  test("is done when its other work has ended", async () => {
    let isBusy = true;
    let isDone = false;
    const drained = drain(2000, () => isBusy).then(() => {
      isDone = true;
    });
    await get("/");
    expect(isDone).toBe(false);
    isBusy = false;
    await drained;
  });

  test("serves what comes after its last answer, however late that was", async () => {
    const graceMs = 2000;
    const waiting = get("/wait", parts.agent);
    while (taken.length === 0) await once(parts.server, "request");
    const drained = drain(graceMs, () => false);
    await sleep(600);
    const answeredMs = performance.now();
    for (const response of taken) response.end("at last");
    await waiting;
    await drained;
    // A fifth of the grace; timers round down.
    expect(performance.now() - answeredMs).toBeGreaterThan(graceMs / 5 - 5);
  });

  test("is done at its deadline, whatever is open", async () => {
    // Fails by its time-out when the drain waits for the open request.
    const waiting = get("/wait");
    while (taken.length === 0) await once(parts.server, "request");
    await drain(50, () => true);
    for (const response of taken) response.end();
    await waiting;
  });
});
