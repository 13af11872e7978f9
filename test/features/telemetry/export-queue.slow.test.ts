/** Exports of sessions to a real collector that dies, comes back and has its answers cut off. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDestinationFilter } from "../../../src/features/telemetry/destinations/rules/destination-problems.ts";
import {
  createDestinationGate,
  type DestinationGate,
} from "../../../src/features/telemetry/export/destination-gate.ts";
import { createSessionExport, type SessionExport } from "../../../src/features/telemetry/export/export-queue.ts";
import {
  createOtlpExporter,
  type ExportOutcome,
  type OtlpExporter,
} from "../../../src/features/telemetry/export/otlp-exporter.ts";
import type { TelemetryRecord } from "../../../src/features/telemetry/telemetry-event.ts";
import { createResolveName } from "../../../src/platform/net/resolve-name.ts";
import { type Collector, startCollector, withoutCollector } from "../../support/collector.ts";
import { eventually } from "../../support/eventually.ts";

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const exporterTo = (endpoint: string): OtlpExporter => {
  const destination = { endpoint, headers: {}, compression: "gzip" as const, timeoutMs: 5000 };
  const filter = createDestinationFilter(["127.0.0.1"]);
  const made = createOtlpExporter(destination, { filter, resolve: createResolveName(), now: Date.now });
  stack.defer(() => made.close());
  return made;
};

const gateOf = (): DestinationGate => createDestinationGate({ now: () => performance.now(), random: Math.random });

const record = (seq: number): TelemetryRecord => ({
  seq,
  event: { category: "page", type: "page_load", ts: 1_790_000_000_000_000 + seq, source: { kind: "cdp" }, data: {} },
});

type Exported = {
  running: SessionExport;
  done: Promise<void>;
  dropped: [number, string][];
  outcomes: ExportOutcome[];
  errors: unknown[];
  cursor: { seq: number; fails: boolean };
  buffer: TelemetryRecord[];
  abort: () => void;
};

type Start = { id: string; exporter: OtlpExporter; gate: DestinationGate; buffer?: TelemetryRecord[]; from?: number };

/** Begins the export of a session with this buffer, which the test may change meanwhile. */
const start = ({ id, exporter, gate, buffer = [], from = 0 }: Start): Exported => {
  const over = new AbortController();
  const cursor = { seq: from, fails: false };
  const [dropped, outcomes, errors]: [Exported["dropped"], ExportOutcome[], unknown[]] = [[], [], []];
  const running = createSessionExport({
    session: { sessionId: id, projectId: "p" },
    exporter,
    gate,
    read: async (afterSeq, limit) => buffer.filter(({ seq }) => seq > afterSeq).slice(0, limit),
    cursor: {
      get: async () => cursor.seq,
      async set(seq) {
        if (cursor.fails) throw new Error("the store is away");
        cursor.seq = seq;
      },
    },
    onDropped: (count, reason) => void dropped.push([count, reason]),
    onOutcome: (outcome) => void outcomes.push(outcome),
    onError: (error) => void errors.push(error),
  });
  const done = running.run(over.signal);
  done.catch(() => undefined);
  return { running, done, dropped, outcomes, errors, cursor, buffer, abort: () => over.abort(new Error("stopped")) };
};

const numbers = (count: number, first = 1): TelemetryRecord[] =>
  Array.from({ length: count }, (_, index) => record(first + index));

// TELEMETRY-23
describe.skipIf(withoutCollector())("a session's events", () => {
  let collector: Collector;
  beforeAll(async () => {
    collector = stack.use(await startCollector());
  });
  const seqsOf = (id: string): number[] =>
    collector
      .received()
      .filter(({ resource }) => resource["session.id"] === id)
      .map(({ attributes }) => Number(attributes["browserpool.telemetry.seq"]));

  test("wait for a collector that is dead, and arrive exactly once and in order when it is back", async () => {
    await collector.kill();
    const [exporter, gate] = [exporterTo(collector.endpoint), gateOf()];
    const ids = Array.from({ length: 30 }, (_, index) => `dead-${index}`);
    const sessions = ids.map((id) => start({ id, exporter, gate, buffer: numbers(100) }));
    const outcomes = () => sessions.flatMap((session) => session.outcomes);
    await eventually("it was tried again", () => outcomes().length >= 6);
    // Four together find out, and after that one at a time: not one for each session.
    expect(outcomes().length).toBeLessThan(10);
    await collector.start();
    for (const { running } of sessions) running.end();
    await Promise.all(sessions.map(({ done }) => done));
    for (const id of ids) await eventually("all arrived", () => seqsOf(id).length >= 100);
    for (const id of ids) expect(seqsOf(id)).toEqual(numbers(100).map(({ seq }) => seq));
    expect(sessions.flatMap(({ dropped, errors }) => [...dropped, ...errors])).toEqual([]);
  });

  test("that the buffer has lost are counted, and the rest arrives", async () => {
    const [exporter, gate] = [exporterTo(collector.endpoint), gateOf()];
    const buffer = [...numbers(5, 41), ...numbers(5, 51)];
    const lossy = start({ id: "lossy", exporter, gate, buffer, from: 10 });
    await eventually("they are sent", () => lossy.cursor.seq === 55);
    expect(lossy.dropped).toEqual([[35, "buffer"]]);
    buffer.push(record(56));
    lossy.running.wake();
    await eventually("the next one too", () => lossy.cursor.seq === 56);
    lossy.running.end();
    await lossy.done;
    await eventually("they arrived", () => seqsOf("lossy").length === 11);
    expect(lossy.dropped).toHaveLength(1);
  });

  test("go on after the cursor when another process takes over, and nothing runs on in the first", async () => {
    const [exporter, gate] = [exporterTo(collector.endpoint), gateOf()];
    const first = start({ id: "moved", exporter, gate, buffer: numbers(10) });
    await eventually("they are sent", () => first.cursor.seq === 10);
    first.abort();
    await expect(first.done).rejects.toThrow("stopped");
    first.buffer.push(record(11));
    first.running.wake();
    const second = start({ id: "moved", exporter, gate, buffer: first.buffer, from: first.cursor.seq });
    second.running.end();
    await second.done;
    await eventually("it arrived", () => seqsOf("moved").length === 11);
    expect([seqsOf("moved"), first.cursor.seq]).toEqual([numbers(11).map(({ seq }) => seq), 10]);
  });

  test("are not sent again by a process that can't store its cursor", async () => {
    const [exporter, gate] = [exporterTo(collector.endpoint), gateOf()];
    const session = start({ id: "unstored", exporter, gate });
    session.cursor.fails = true;
    session.buffer.push(...numbers(3));
    session.running.wake();
    await eventually("it failed", () => session.errors.length > 0);
    session.cursor.fails = false;
    session.buffer.push(record(4));
    session.running.end();
    await session.done;
    await eventually("they arrived", () => seqsOf("unstored").length >= 4);
    expect([seqsOf("unstored"), session.cursor.seq]).toEqual([[1, 2, 3, 4], 4]);
  });

  test("arrive twice when the answer to them was lost, and nothing else does", async () => {
    let isCut = true;
    const front = createServer((incoming, answer) => {
      const onward = request({ port: collector.port, path: incoming.url, method: "POST", headers: incoming.headers });
      onward.on("response", (got) => {
        if (isCut) answer.destroy();
        else got.pipe(answer.writeHead(got.statusCode ?? 0));
        isCut = false;
      });
      incoming.pipe(onward);
    }).listen(0, "127.0.0.1");
    stack.defer(() => void front.close());
    await new Promise((done) => front.once("listening", done));
    const exporter = exporterTo(`http://127.0.0.1:${(front.address() as AddressInfo).port}`);
    const session = start({ id: "cut", exporter, gate: gateOf(), buffer: numbers(3) });
    await eventually("they are sent", () => session.cursor.seq === 3);
    session.buffer.push(record(4));
    session.running.end();
    await session.done;
    await eventually("they arrived", () => seqsOf("cut").length >= 7);
    expect(seqsOf("cut")).toEqual([1, 2, 3, 1, 2, 3, 4]);
    await exporter.close();
  });
});

// TELEMETRY-23
describe("the gate before a destination", () => {
  const never = new AbortController().signal;
  const failed: ExportOutcome = { retryAfterMs: 0, reason: "http_503" };

  test("lets four through at once, and the others in the order of asking", async () => {
    const gate = gateOf();
    const begun: number[] = [];
    const ends = Array.from({ length: 6 }, () => Promise.withResolvers<ExportOutcome>());
    const all = ends.map(({ promise }, index) =>
      gate.pass(() => {
        begun.push(index);
        return promise;
      }, never),
    );
    await eventually("they began", () => begun.length === 4);
    ends[2]?.resolve("sent");
    await eventually("the next began", () => begun.length === 5);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    for (const end of ends) end.resolve("sent");
    expect(await Promise.all(all)).toHaveLength(6);
  });

  test("after a failure lets one try, and all when that succeeds; who gives up takes no place", async () => {
    let nowMs = 0;
    const gate = createDestinationGate({ now: () => nowMs, random: () => 1 });
    expect(await gate.pass(async () => failed, never)).toBe(failed);
    const begun: string[] = [];
    const probe = Promise.withResolvers<ExportOutcome>();
    const leaving = new AbortController();
    const left = gate.pass(async () => "sent", leaving.signal);
    const first = gate.pass(() => {
      begun.push("probe");
      return probe.promise;
    }, never);
    const second = gate.pass(async () => {
      begun.push("second");
      return "sent";
    }, never);
    leaving.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    expect(begun).toEqual([]);
    nowMs = 1000;
    await eventually("the probe goes", () => begun.length > 0);
    await sleep(20);
    expect(begun).toEqual(["probe"]);
    probe.resolve("sent");
    await Promise.all([first, second]);
    expect(begun).toEqual(["probe", "second"]);
  });

  test("takes batches that fail side by side for one failure, and waits as long as the receiver asks", async () => {
    let nowMs = 0;
    const gate = createDestinationGate({ now: () => nowMs, random: () => 1 });
    const ends = [1, 2, 3, 4].map(() => Promise.withResolvers<ExportOutcome>());
    const all = ends.map(({ promise }) => gate.pass(() => promise, never));
    for (const end of ends) end.resolve(failed);
    await Promise.all(all);
    nowMs = 1000;
    expect(await gate.pass(async () => ({ retryAfterMs: 60_000, reason: "http_429" }), never)).toBeDefined();
    nowMs = 60_999;
    const early = new AbortController();
    const waiting = gate.pass(async () => "sent", early.signal);
    early.abort(new Error("too early"));
    await expect(waiting).rejects.toThrow("too early");
    nowMs = 61_000;
    expect(await gate.pass(async () => "sent", never)).toBe("sent");
  });
});
