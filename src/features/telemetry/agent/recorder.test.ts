import { expect, test } from "vitest";
import { maxEventText, TelemetryRecord } from "../telemetry-event.ts";
import { createRecorder } from "./recorder.ts";

const unmasked = { mask: (data: unknown) => data };
const never = new AbortController().signal;

const recordsAfter = (recorder: ReturnType<typeof createRecorder>, seq: number) =>
  recorder.after(seq).map((record) => TelemetryRecord.parse(record));

test("events are numbered, and a reader goes on where it was", async () => {
  const recorder = createRecorder(unmasked);
  const grown = recorder.grown(0, never);
  recorder.emit("cdp_connect", {});
  recorder.emit("cdp_command", { method: "Page.enable" });
  await grown;
  expect(recordsAfter(recorder, 0).map(({ seq, event }) => [seq, event.type])).toEqual([
    [1, "cdp_connect"],
    [2, "cdp_command"],
  ]);
  expect(recordsAfter(recorder, 1).map(({ seq }) => seq)).toEqual([2]);
  expect(recorder.after(2)).toEqual([]);
  const closed = recorder.grown(2, never);
  recorder.close();
  await closed;
  recorder.emit("cdp_connect", {});
  expect(recorder.after(2)).toEqual([]);
});

// TELEMETRY-17
test("a filled value that crosses the end of what is kept of a text is masked, and no part of it is kept", () => {
  const secret = "s3cret-of-a-vault";
  const mask = (data: unknown): unknown => JSON.parse(JSON.stringify(data).replaceAll(secret, "[filled]"));
  const recorder = createRecorder({ mask });
  for (let before = maxEventText - secret.length; before <= maxEventText; before += 1)
    recorder.emit("console_log", { text: "x".repeat(before) + secret });
  expect(JSON.stringify(recorder.after(0))).not.toContain("s3");
});

// TELEMETRY-15
test("a reader that falls behind is told how many events it has lost", () => {
  const recorder = createRecorder(unmasked);
  for (let index = 0; index < 40; index += 1) recorder.emit("monitor_screenshot", { png: "x".repeat(150_000) });
  const [gap, first, ...rest] = recordsAfter(recorder, 3);
  const lost = Number(first?.seq) - 4;
  expect(lost).toBeGreaterThan(5);
  expect(gap).toMatchObject({
    seq: Number(first?.seq) - 1,
    event: { type: "monitor_events_dropped", data: { count: lost, reason: "buffer_full" } },
  });
  expect(rest.at(-1)?.seq).toBe(40);
  expect(JSON.stringify(recorder.after(0)).length).toBeLessThan(4.5 * 1024 * 1024);
});

// TELEMETRY-15
test("a flood of one type is dropped, counted and told; others go on", () => {
  const recorder = createRecorder(unmasked);
  for (let index = 0; index < 5000; index += 1) recorder.emit("console_log", { text: `line ${index}` });
  recorder.emit("cdp_connect", {});
  recorder.close();
  const types = recordsAfter(recorder, 0).map(({ event }) => event);
  const kept = types.filter(({ type }) => type === "console_log").length;
  const dropped = types.filter(({ type }) => type === "monitor_events_dropped");
  expect(kept).toBeLessThan(5000);
  expect(dropped.reduce((sum, { data }) => sum + Number(data?.count), 0)).toBe(5000 - kept);
  expect(types.some(({ type }) => type === "cdp_connect")).toBe(true);
});

test("long texts and lists are cut, and the event says so", () => {
  const recorder = createRecorder(unmasked);
  recorder.emit("console_log", { text: "x".repeat(5000), args: Array.from({ length: 100 }, () => "y") });
  const [record] = recordsAfter(recorder, 0);
  expect(record?.event.truncated).toBe(true);
  expect(String(record?.event.data?.text)).toHaveLength(2048);
  expect(record?.event.data?.args).toHaveLength(20);
});

// TELEMETRY-36
test("what was dropped is told within a second, with its reason, though nothing else happens", async () => {
  const recorder = createRecorder(unmasked);
  recorder.drop("too_large");
  recorder.drop("too_large");
  await recorder.grown(0, never);
  const [told] = recordsAfter(recorder, 0);
  expect(told?.event).toMatchObject({ type: "monitor_events_dropped", data: { count: 2, reason: "too_large" } });
  recorder.close();
});
