/** Telemetry of a real browser, read by the public SDK. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TelemetryStreamResponse } from "@onkernel/sdk/resources/browsers/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type LocalStack, startLocalStack } from "../support/local-stack.ts";
import { visit } from "../support/visit.ts";

let stack: LocalStack;
let site: Server;
let url: string;
beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === "/gone") return response.socket?.destroy();
    const script = "<script>console.log('hello', location.pathname); fetch('/gone').catch(() => undefined)</script>";
    return response.setHeader("content-type", "text/html").end(`<title>page</title>${script}`);
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  stack = await startLocalStack();
});
afterAll(async () => {
  site?.closeAllConnections();
  site?.close();
  await stack?.[Symbol.asyncDispose]();
});

// TELEMETRY-8, TELEMETRY-34
test("what a page does is read by the SDK, as it comes and afterwards; a change of the session counts at once", async () => {
  const { kernel } = stack;
  const session = await kernel.browsers.create({
    headless: true,
    telemetry: { browser: { console: { enabled: true }, network: { enabled: true }, page: { enabled: true } } },
  });
  const { session_id: id, cdp_ws_url } = session;
  const seen: TelemetryStreamResponse[] = [];
  const stream = await kernel.browsers.telemetry.stream(id);
  const reading = (async () => {
    for await (const record of stream) seen.push(record);
  })();
  const about = (type: string, text: string) =>
    seen.find(({ event }) => event.type === type && JSON.stringify(event).includes(text));
  const arrives = (type: string, text: string) => eventually(`${type} of ${text}`, () => about(type, text));

  await visit(cdp_ws_url, `${url}/first`);
  await arrives("console_log", "hello /first");
  await arrives("page_navigation", "/first");
  const request = await arrives("network_request", "/gone");
  const failed = await arrives(
    "network_loading_failed",
    (request.event as { data: { request_id: string } }).data.request_id,
  );
  expect(failed.event).toMatchObject({ category: "network", data: { error_text: expect.stringContaining("net::") } });

  await kernel.browsers.update(id, { telemetry: { browser: { network: { enabled: false } } } });
  await visit(cdp_ws_url, `${url}/second`);
  await arrives("console_log", "hello /second");
  await arrives("page_navigation", "/second");
  const numbers = seen.map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));

  // The SDK has asked below the session's base_url. Without its token there is nothing.
  const below = new URL(`${session.base_url}/telemetry/stream`);
  expect((await fetch(below)).status).toBe(401);
  const other = await kernel.browsers.create({ headless: true });
  below.searchParams.set("jwt", new URL(other.cdp_ws_url).searchParams.get("jwt") ?? "");
  expect((await fetch(below)).status).toBe(401);
  await kernel.browsers.deleteByID(other.session_id);
  const replayed = await kernel.browsers.telemetry.stream(id, { replay: "all" });
  for await (const { seq } of replayed) {
    expect(seq).toBe(1);
    break;
  }

  await kernel.browsers.deleteByID(id);
  await reading;
  expect(about("network_request", "/second")).toBeUndefined();
  const kept = await stack.call("GET", `/browsers/${id}/telemetry/events?include_deleted=true&limit=100`);
  const records = (await kept.json()) as TelemetryStreamResponse[];
  expect(records.filter(({ seq }) => seq >= (numbers[0] ?? 0))).toEqual(seen);
});
