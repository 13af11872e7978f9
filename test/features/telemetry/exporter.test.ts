/**
 * What leaves by OTLP, received by a real OpenTelemetry Collector; and receivers that refuse, lie and lead elsewhere.
 */
import { createServer, type RequestListener, request, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDestinationFilter } from "../../../src/features/telemetry/destinations/rules/destination-problems.ts";
import {
  createOtlpExporter,
  type ExportDestination,
  type OtlpExporter,
} from "../../../src/features/telemetry/export/otlp-exporter.ts";
import type { TelemetryRecord } from "../../../src/features/telemetry/telemetry-event.ts";
import { Sensitive } from "../../../src/platform/base/sensitive.ts";
import { createResolveName } from "../../../src/platform/net/resolve-name.ts";
import { type Collector, startCollector, withoutCollector } from "../../support/collector.ts";
import { eventually } from "../../support/eventually.ts";
import { testCertificates } from "../../support/test-certificates.ts";
import { type Answer, type DnsServer, startDnsServer } from "../../support/wall/dns-server.ts";

const secret = "Bearer canary-0tlp-t0ken";
const session = { sessionId: "s1", projectId: "p1", poolId: "pool1", poolName: "checkout" };
const never = new AbortController().signal;
const stack = new AsyncDisposableStack();
const addresses = new Map<string, Answer>();
let dns: DnsServer;

beforeAll(async () => {
  dns = stack.use(await startDnsServer((name) => addresses.get(name)));
});
afterAll(() => stack.disposeAsync());

type Made = Partial<ExportDestination> & { allowed?: string[] };

const exporterTo = (endpoint: string, { allowed = ["127.0.0.1"], ...more }: Made = {}): OtlpExporter => {
  const destination = { endpoint, headers: {}, compression: "gzip" as const, timeoutMs: 5000, ...more };
  const filter = createDestinationFilter(allowed);
  const made = createOtlpExporter(destination, { filter, resolve: createResolveName([dns.address]), now: Date.now });
  stack.defer(() => made.close());
  return made;
};

const record = (seq: number, event: Partial<TelemetryRecord["event"]> = {}): TelemetryRecord => {
  const source = { kind: "cdp" as const, event: "Runtime.consoleAPICalled" };
  return {
    seq,
    event: { category: "console", type: "console_log", ts: 1_790_000_000_123_456 + seq, source, ...event } as never,
  };
};

/** A server that answers as `listener` says. */
const serve = async (listener: RequestListener): Promise<{ server: Server; endpoint: string; port: number }> => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, endpoint: `http://127.0.0.1:${port}` };
};

describe.skipIf(withoutCollector())("a collector", () => {
  let collector: Collector;
  beforeAll(async () => {
    collector = stack.use(await startCollector());
  });

  // TELEMETRY-21
  test("gets all events in order, compressed and with the headers, as log records", async () => {
    const asked: { authorization?: string; encoding?: string; bytes: number }[] = [];
    /** It lets nobody through who lacks the header. */
    const front = await serve((incoming, answer) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const body = Buffer.concat(chunks);
        const { authorization = "", "content-encoding": encoding = "" } = incoming.headers;
        asked.push({ authorization, encoding, bytes: gunzipSync(body).length / body.length });
        if (authorization !== secret) return void answer.writeHead(401).end();
        const onward = request({ port: collector.port, path: incoming.url, method: "POST", headers: incoming.headers });
        onward.on("response", (got) => {
          answer.writeHead(got.statusCode ?? 0, got.headers);
          got.pipe(answer);
        });
        onward.end(body);
      });
    });
    const exporter = exporterTo(`${front.endpoint}/`, { headers: { Authorization: new Sensitive(secret) } });
    const deep = JSON.parse(`${"[".repeat(500)}1${"]".repeat(500)}`);
    const records = [
      ...Array.from({ length: 200 }, (_, index) => record(index + 1, { data: { text: `line ${index + 1}` } as never })),
      record(201, {
        type: "console_error",
        data: { text: "half \ud83d a pair", args: ["a", "b"] } as never,
        truncated: true,
      }),
      record(202, { data: { text: "deep", deep, nothing: null, count: 2 ** 53, part: 0.5, yes: true } as never }),
    ];
    for (let start = 0; start < records.length; start += 64)
      expect(await exporter.export(session, records.slice(start, start + 64), never)).toBe("sent");
    await eventually("all arrived", () => collector.received().length >= 202);
    const received = collector.received();
    expect(received.map(({ attributes }) => Number(attributes["browserpool.telemetry.seq"]))).toEqual(
      records.map(({ seq }) => seq),
    );
    expect(received[0]).toMatchObject({
      fields: {
        Timestamp: "2026-09-21 14:13:20.123457 +0000 UTC",
        EventName: "console_log",
        SeverityText: "INFO",
        Body: 'Map({"text":"line 1"})',
      },
      attributes: {
        "session.id": "s1",
        "browserpool.telemetry.category": "console",
        "browserpool.telemetry.source.kind": "cdp",
        "browserpool.telemetry.source.event": "Runtime.consoleAPICalled",
      },
      resource: {
        "service.name": "browserpool",
        "session.id": "s1",
        "browserpool.project.id": "p1",
        "browserpool.pool.id": "pool1",
        "browserpool.pool.name": "checkout",
      },
    });
    expect(received[200]).toMatchObject({
      fields: { SeverityText: "ERROR", Body: expect.stringContaining("half \ufffd a pair") },
      attributes: { "browserpool.telemetry.truncated": "true" },
    });
    expect(received[201]?.fields.Body).toMatch(/"count":9007199254740992,"deep":.*\[+"\[\[.*"part":0.5.*"yes":true/);
    expect(asked).toHaveLength(4);
    for (const { authorization, encoding, bytes } of asked) {
      expect([authorization, encoding]).toEqual([secret, "gzip"]);
      expect(bytes).toBeGreaterThan(2);
    }

    const without = exporterTo(front.endpoint, { compression: "gzip" });
    const refused = await without.export(session, [record(1)], never);
    expect(refused).toMatchObject({ rejected: 1, reason: "http_401" });
  });

  test("takes what is not compressed, too", async () => {
    const before = collector.received().length;
    const exporter = exporterTo(collector.endpoint, { compression: "none" });
    expect(await exporter.export(session, [record(1)], never)).toBe("sent");
    await eventually("it arrived", () => collector.received().length === before + 1);
  });
});

// TELEMETRY-22
describe("an endpoint", () => {
  let hits: string[];
  let server: { endpoint: string; port: number };
  beforeAll(async () => {
    hits = [];
    server = await serve((incoming, answer) => {
      hits.push(incoming.url ?? "");
      if (incoming.url?.startsWith("/redirected")) answer.writeHead(307, { location: `${server.endpoint}/elsewhere` });
      answer.end();
    });
  });

  test.each<[string, string, Answer, string[]]>([
    ["a name that means loopback", "rebound.test", { a: ["127.0.0.1"] }, []],
    ["a name that means loopback, too", "both.test", { a: ["203.0.113.5", "127.0.0.1"] }, []],
    ["a name that means mapped loopback", "mapped.test", { aaaa: ["::ffff:7f00:1"] }, ["127.0.0.0/8"]],
    ["a name that means a private address", "private.test", { a: ["10.0.0.1"] }, ["192.168.0.0/16"]],
    ["a name that means link-local", "meta.test", { a: ["169.254.169.254"] }, ["meta.test", "169.254.0.0/16"]],
  ])("%s gets nothing", async (_, name, answer, allowed) => {
    addresses.set(name, answer);
    const exporter = exporterTo(`http://${name}:${server.port}`, { allowed });
    expect(await exporter.export(session, [record(1)], never)).toEqual({ retryAfterMs: 0, reason: "address_refused" });
    expect(hits).toEqual([]);
  });

  test("by a name that turns to loopback gets nothing more, and by what is allowed it does", async () => {
    addresses.set("turning.test", { a: ["203.0.113.5"] });
    const refusing = exporterTo(`http://turning.test:${server.port}`, { allowed: [], timeoutMs: 300 });
    expect(await refusing.export(session, [record(1)], never)).toMatchObject({ retryAfterMs: 0 });
    addresses.set("turning.test", { a: ["127.0.0.1"] });
    expect(await refusing.export(session, [record(1)], never)).toMatchObject({ reason: "address_refused" });
    expect(hits).toEqual([]);
    for (const allowed of [["turning.test"], ["127.0.0.0/8"], [`127.0.0.1:${server.port}`]])
      expect(
        await exporterTo(`http://turning.test:${server.port}`, { allowed }).export(session, [record(1)], never),
      ).toBe("sent");
    expect(hits.splice(0)).toEqual(["/v1/logs", "/v1/logs", "/v1/logs"]);
  });

  test("with a certificate that nobody has signed gets nothing", async () => {
    const { certificate, key } = testCertificates(["IP:127.0.0.1"]);
    const secure = createTlsServer({ cert: certificate, key }, (incoming, answer) => {
      hits.push(incoming.url ?? "");
      answer.end();
    }).listen(0, "127.0.0.1");
    stack.defer(() => void secure.close());
    await new Promise((done) => secure.once("listening", done));
    const exporter = exporterTo(`https://127.0.0.1:${(secure.address() as AddressInfo).port}`);
    expect(await exporter.export(session, [record(1)], never)).toEqual({ retryAfterMs: 0, reason: "no_connection" });
    expect(hits).toEqual([]);
  });

  test("that redirects is not followed", async () => {
    const outcome = await exporterTo(`${server.endpoint}/redirected`).export(session, [record(1), record(2)], never);
    expect(outcome).toMatchObject({ rejected: 2, reason: "http_307" });
    expect(hits.splice(0)).toEqual(["/redirected/v1/logs"]);
  });
});

// TELEMETRY-21
describe("a receiver that", () => {
  /** ExportLogsServiceResponse with partial_success: 2 rejected, "no room". */
  const partial = Buffer.from([0x0a, 11, 0x08, 2, 0x12, 7, ...Buffer.from("no room")]);
  const protobuf = { "content-type": "application/x-protobuf" };
  const five = [1, 2, 3, 4, 5].map((seq) => record(seq));
  let open = 0;

  test.each<[string, RequestListener, unknown]>([
    ["is overloaded", (_, to) => void to.writeHead(503, { "retry-after": "7" }).end(), { retryAfterMs: 7000 }],
    [
      "asks for a day's pause",
      (_, to) => void to.writeHead(429, { "retry-after": "86400" }).end(),
      { retryAfterMs: 300_000 },
    ],
    ["refuses", (_, to) => void to.writeHead(400).end("no\nthanks"), { rejected: 5, message: "no?thanks" }],
    ["takes a part", (_, to) => void to.writeHead(200, protobuf).end(partial), { rejected: 2, message: "no room" }],
    ["answers rubbish", (_, to) => void to.writeHead(200, protobuf).end(Buffer.alloc(99, 0xff)), "sent"],
    [
      "rejects more than it got",
      (_, to) => void to.writeHead(200, protobuf).end(Buffer.from([10, 2, 8, 99])),
      { rejected: 5 },
    ],
    ["hangs up", (from) => void from.socket.destroy(), { retryAfterMs: 0, reason: "no_connection" }],
    ["stops in the middle", (_, to) => void to.writeHead(200, { "content-length": "99" }).write("x"), "sent"],
    ["never answers", () => undefined, { retryAfterMs: 0, reason: "timeout" }],
    [
      "sends an endless head",
      (from) => void from.socket.write(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(1e6)}`),
      { retryAfterMs: 0 },
    ],
  ])("%s", async (_, listener, expected) => {
    const { endpoint } = await serve((from, to) => void from.resume().on("end", () => listener(from, to)));
    const outcome = await exporterTo(endpoint, { timeoutMs: 700 }).export(session, five, never);
    if (typeof expected === "string") expect(outcome).toBe(expected);
    else expect(outcome).toMatchObject(expected as object);
  });

  test("sends an endless body is cut off", async () => {
    let sent = 0;
    const { endpoint } = await serve((from, to) => {
      open += 1;
      to.on("close", () => {
        open -= 1;
      });
      from.resume();
      to.writeHead(200);
      const more = (): void => {
        while (!to.destroyed && to.write(Buffer.alloc(16_384))) sent += 16_384;
      };
      to.on("drain", more);
      more();
    });
    expect(await exporterTo(endpoint).export(session, five, never)).toBe("sent");
    await eventually("the connection is closed", () => open === 0);
    // What fits into the sockets' buffers, and no stream.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test("takes small requests only gets the events in several", async () => {
    const sizes: number[] = [];
    const { endpoint } = await serve((from, to) => {
      const chunks: Buffer[] = [];
      from.on("data", (chunk: Buffer) => chunks.push(chunk));
      from.on("end", () => {
        const { length } = gunzipSync(Buffer.concat(chunks));
        if (length > 600) return void to.writeHead(413).end();
        sizes.push(length);
        to.writeHead(200).end();
      });
    });
    expect(await exporterTo(endpoint).export(session, five, never)).toBe("sent");
    expect(sizes.length).toBeGreaterThan(1);
    const large = record(1, { data: { text: "x".repeat(1000) } as never });
    expect(await exporterTo(endpoint).export(session, [large], never)).toMatchObject({
      rejected: 1,
      reason: "http_413",
    });
  });

  test("gets all but the one event that can't be serialized", async () => {
    let requests = 0;
    const { endpoint } = await serve((from, to) => {
      requests += 1;
      from.resume().on("end", () => to.end());
    });
    const tooDeep = JSON.parse(`${"[".repeat(20_000)}1${"]".repeat(20_000)}`);
    const records = [...five, record(6, { data: { text: "deep", tooDeep } as never }), record(7)];
    const outcome = await exporterTo(endpoint).export(session, records, never);
    expect(outcome).toMatchObject({ rejected: 1, reason: "unserializable" });
    expect(requests).toBeGreaterThan(1);
  });
});
