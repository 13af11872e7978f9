/** Telemetry of a real browser, read by the public SDK. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TelemetryStreamResponse } from "@onkernel/sdk/resources/browsers/telemetry";
import { connect } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { telemetryCategories } from "../../src/core/model/settings/telemetry.ts";
import { startCollector, withoutCollector } from "../support/collector.ts";
import { eventually } from "../support/eventually.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { visit } from "../support/visit.ts";

let stack: LocalProject;
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
  stack = await startProject();
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

// TELEMETRY-31, TELEMETRY-40
test("a request that the network rules refuse is told as such, and types are chosen", async () => {
  const { session_id: id, cdp_ws_url } = await stack.kernel.browsers.create({
    headless: true,
    network: { allowed_hosts: ["shop.example"] },
    telemetry: { browser: { network: { enabled: true } } },
  } as object);
  const chosen = async (types: string): Promise<{ type: string; data?: { url?: string; code?: string } }[]> => {
    const answer = await stack.call("GET", `/browsers/${id}/telemetry/events?limit=100&type=${types}`);
    return ((await answer.json()) as TelemetryStreamResponse[]).map(({ event }) => event as never);
  };
  await visit(cdp_ws_url, "http://other.example/x");
  await visit(cdp_ws_url, "https://other.example/y").catch(() => undefined);
  const told = await eventually("both are told", async () => {
    const errors = await chosen("proxy_error");
    return errors.length >= 2 && errors;
  });
  expect(told.map(({ type, data }) => [type, data?.url, data?.code])).toEqual([
    ["proxy_error", "http://other.example/x", "network_policy_denied"],
    ["proxy_error", "https://other.example/y", "unknown"],
  ]);
  const both = await chosen("proxy_error,network_loading_failed");
  expect(new Set(both.map(({ type }) => type))).toEqual(new Set(["proxy_error", "network_loading_failed"]));
  expect(await chosen("no_such_type")).toEqual([]);
  await stack.kernel.browsers.deleteByID(id);
});

/** Reads a session's stream after what was seen, to its end or until the connection breaks after so many events. */
const readUntil = async (id: string, seen: TelemetryStreamResponse[], most: number): Promise<void> => {
  const gone = new AbortController();
  const last = seen.at(-1)?.seq;
  const params = last === undefined ? { replay: "all" } : { "Last-Event-ID": String(last) };
  const end = seen.length + most;
  const stream = await stack.kernel.browsers.telemetry.stream(id, params, { signal: gone.signal });
  for await (const record of stream) {
    seen.push(record);
    if (seen.length === end) gone.abort();
    if (gone.signal.aborted) return;
  }
};

/** Reads it over four connections, of which three break. */
const readBroken = async (id: string, seen: TelemetryStreamResponse[]): Promise<void> => {
  for (let breaks = 0; breaks < 3; breaks += 1) await readUntil(id, seen, 7);
  await readUntil(id, seen, Number.POSITIVE_INFINITY);
};

// TELEMETRY-9, TELEMETRY-23, TELEMETRY-32
test.skipIf(withoutCollector())(
  "a visit is read over broken connections without gap or repeat, and the same events reach a collector that was dead",
  async () => {
    const { kernel } = stack;
    await using collector = await startCollector();
    const made = await stack.call("POST", "/telemetry/destinations", { name: "otel", endpoint: collector.endpoint });
    expect(made.status).toBe(201);
    const { session_id: id, cdp_ws_url } = await kernel.browsers.create({
      headless: true,
      telemetry: {
        enabled: true,
        browser: Object.fromEntries(telemetryCategories.map((name) => [name, { enabled: true }])),
        export: { otlp: { destination: { name: "otel" } } },
        storage: { enabled: true },
      } as object,
    });
    const seen: TelemetryStreamResponse[] = [];
    const reading = readBroken(id, seen);
    const browser = await connect({ browserWSEndpoint: cdp_ws_url });
    const tab = await browser.newPage();
    await tab.goto(`${url}/one`);
    await eventually("the first events are at the collector", () => collector.received().length > 3);
    await collector.kill();
    await tab.goto(`${url}/two`);
    await tab.click("body");
    const types = ["console_log", "network_loading_failed", "page_navigation", "interaction_click", "cdp_command"];
    for (const type of [...types, "monitor_screenshot"])
      await eventually(`${type} is read`, () => seen.some(({ event }) => event.type === type));
    await browser.disconnect();
    await kernel.browsers.deleteByID(id);
    await reading;
    expect(seen.length).toBeGreaterThan(21);
    await collector.start();

    const numbers = seen.map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    const exported = await eventually("all events are at the collector", () => {
      const all = collector.received().filter(({ attributes }) => attributes["session.id"] === id);
      return new Set(all.map(({ attributes }) => attributes["browserpool.telemetry.seq"])).size >= seen.length && all;
    });
    expect(exported.length).toBeGreaterThanOrEqual(seen.length);
  },
);
