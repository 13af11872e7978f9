/** Large answers: what of them is in lists, and what one costs whose caller does not read it. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import express from "express";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { sendJson } from "../../../src/core/http/send-json.ts";
import { eventually } from "../../support/eventually.ts";
import { type Answer, type OrgApi, startOrgApi } from "../projects/org-api.ts";

let api: OrgApi;
beforeAll(async () => {
  api = await startOrgApi({ BROWSERPOOL_BROWSER_FEATURES: "chrome_policy" });
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** More than a connection takes while its reader stands still; with characters of four bytes at every place. */
const large = { text: `a${"😀".repeat(4 * 1024 * 1024)}` };

/** Serves that answer. `bytes`: what counts as under way. */
const serve = async (patienceMs?: number) => {
  const counted = { bytes: 0, closed: 0 };
  const app = express();
  app.get("/large", async (_request, response) => {
    const gone = new AbortController();
    response.once("close", () => {
      counted.closed += 1;
      gone.abort();
    });
    const enter = (bytes: number) => {
      counted.bytes += bytes;
      return () => {
        counted.bytes -= bytes;
      };
    };
    await sendJson(response, large, { signal: gone.signal, enter, ...(patienceMs && { patienceMs }) });
  });
  const server = createServer(app).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, counted };
};

const unreading = async (port: number): Promise<Socket> => {
  const caller = connect(port, "127.0.0.1").on("error", () => undefined);
  await once(caller, "connect");
  caller.pause();
  caller.write("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return caller;
};

// LIMIT-35
test("an answer counts with its bytes until its caller has it or is gone", async () => {
  const { port, counted } = await serve();
  const bytes = Buffer.byteLength(JSON.stringify(large));
  const caller = await unreading(port);
  await eventually("it is under way", () => counted.bytes === bytes);
  caller.destroy();
  await eventually("it is not any more", () => counted.bytes === 0);
  const answer = await fetch(`http://127.0.0.1:${port}/large`);
  expect(answer.headers.get("content-length")).toBe(String(bytes));
  expect((await answer.json()) as typeof large).toEqual(large);
  await eventually("it was taken", () => counted.bytes === 0 && counted.closed === 2);
});

// LIMIT-35
test("a caller that takes nothing is cut", async () => {
  const { port, counted } = await serve(100);
  await unreading(port);
  await eventually("it was cut", () => counted.closed === 1 && counted.bytes === 0);
});

// LIMIT-34, POOL-17
test("a list leaves out large policies, and the answer about the pool has its policy", async () => {
  const policyOf = (bytes: number) => ({ HomepageLocation: "x".repeat(bytes) });
  const [small, big] = [policyOf(10_000), policyOf(100_000)];
  const made: Answer[] = [];
  for (const chrome_policy of [small, big])
    made.push(
      await eventually("the pool is made", async () => {
        const answer = await api.call("POST", "/browser_pools", { body: { size: 1, chrome_policy } });
        return answer.status === 503 ? undefined : answer;
      }),
    );
  expect(made.map(({ status, body }) => [status, body.message])).toEqual(Array(2).fill([200, undefined]));
  const configOf = ({ browser_pool_config: config }: Record<string, unknown>) =>
    (config as { chrome_policy?: object }).chrome_policy;
  expect(made.map(({ body }) => configOf(body))).toEqual([small, big]);
  const { body } = await api.call("GET", "/browser_pools");
  const listed = new Map((body as unknown as Record<string, unknown>[]).map((pool) => [pool.id, configOf(pool)]));
  expect(made.map(({ body: { id } }) => listed.get(id))).toEqual([small, undefined]);
  const shown = await Promise.all(made.map(({ body: { id } }) => api.call("GET", `/browser_pools/${String(id)}`)));
  expect(shown.map((answer) => configOf(answer.body))).toEqual([small, big]);
});
