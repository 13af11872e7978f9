import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type AuditedCall, AuditLine, SuppressedLine } from "./audit-line.ts";
import { createAuditLog } from "./audit-log.ts";

let nowMs: number;
let lines: string[];
let suppressed: number;
beforeEach(() => {
  vi.useFakeTimers();
  nowMs = Date.parse("2026-01-01T00:00:00Z");
  lines = [];
  suppressed = 0;
});
afterEach(() => vi.useRealTimers());

const start = () =>
  createAuditLog({
    replica: "api-0",
    write: (line) => void lines.push(line),
    onSuppressed: () => {
      suppressed += 1;
    },
    now: () => nowMs,
  });

const call = (more: Partial<AuditedCall> = {}): AuditedCall => ({
  request_id: "r",
  address: "10.0.0.1",
  key_id: null,
  project: null,
  verb: "deleteVault",
  object: "/vaults/{id_or_name}",
  result: "refused",
  status: 401,
  ...more,
});

const flood = (audit: ReturnType<typeof start>, count: number, more: Partial<AuditedCall> = {}): void => {
  for (let i = 0; i < count; i++) audit.record(call(more));
};

const counts = (): SuppressedLine[] => lines.flatMap((line) => SuppressedLine.safeParse(JSON.parse(line)).data ?? []);

describe("an audit line", () => {
  // AUDIT-3
  test("has the fields of the schema, and when and where the call was served", () => {
    start().record(call({ key_id: "k", session: "s", result: "done", status: 200 }));
    const line = AuditLine.parse(JSON.parse(lines[0] ?? ""));
    expect(line).toMatchObject({ stream: "audit", time: "2026-01-01T00:00:00.000Z", replica: "api-0", session: "s" });
  });
});

describe("a flood", () => {
  // AUDIT-4
  test("of calls without a key has 50 lines, then 5 a second, and a line that counts the others", () => {
    const audit = start();
    flood(audit, 1_000_000);
    expect(lines).toHaveLength(50);
    expect(suppressed).toBe(999_950);
    nowMs += 2000;
    flood(audit, 100);
    expect(lines).toHaveLength(60);
    nowMs += 8000;
    vi.advanceTimersByTime(10_000);
    expect(lines).toHaveLength(61);
    expect(counts()).toEqual([
      {
        stream: "audit",
        time: "2026-01-01T00:00:10.000Z",
        replica: "api-0",
        key_id: null,
        suppressed: 999_950 + 90,
        since: "2026-01-01T00:00:00.000Z",
      },
    ]);
    vi.advanceTimersByTime(60_000);
    expect(lines).toHaveLength(61);
  });

  // AUDIT-4
  test("that begins again is counted again", () => {
    const audit = start();
    for (const _ of ["first", "second"]) {
      flood(audit, 100, { key_id: "k" });
      vi.advanceTimersByTime(10_000);
      nowMs += 60_000;
    }
    expect(counts()).toMatchObject([{ suppressed: 50 }, { suppressed: 50 }]);
  });

  // AUDIT-4
  test("of one key hides nothing of another, and nothing that was done", () => {
    const audit = start();
    flood(audit, 1000, { key_id: "hostile", status: 403 });
    lines = [];
    audit.record(call({ key_id: "other", status: 403 }));
    audit.record(call({ key_id: "hostile", result: "done", status: 204 }));
    audit.record(call({ key_id: "hostile", result: "repeated", status: 200 }));
    audit.record(call());
    expect(lines).toHaveLength(4);
  });

  // AUDIT-4
  test("is counted at the end of the process too", () => {
    const audit = start();
    flood(audit, 60, { key_id: "k" });
    audit.close();
    expect(counts()).toMatchObject([{ key_id: "k", suppressed: 10 }]);
  });

  // AUDIT-4
  test("by a clock that is set back has no more lines", () => {
    const audit = start();
    flood(audit, 100);
    nowMs -= 3_600_000;
    flood(audit, 100);
    expect(lines).toHaveLength(50);
  });

  test("from very many keys shares one count, and all are forgotten later", () => {
    const audit = start();
    for (let i = 0; i < 5000; i++) flood(audit, 1, { key_id: `k${i}` });
    expect(lines.length).toBeLessThanOrEqual(1000 + 50);
    nowMs += 60_000;
    vi.advanceTimersByTime(10_000);
    lines = [];
    for (let i = 0; i < 500; i++) flood(audit, 1, { key_id: `late${i}` });
    expect(lines).toHaveLength(500);
  });
});
