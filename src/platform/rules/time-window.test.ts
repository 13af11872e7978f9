import { expect, test } from "vitest";
import { momentOf } from "./time-window.ts";

const now = Date.parse("2026-01-02T03:04:05Z");

test.each([
  ["5m", "2026-01-02T02:59:05.000Z"],
  ["1h30m", "2026-01-02T01:34:05.000Z"],
  ["1.5s", "2026-01-02T03:04:03.500Z"],
  ["250ms", "2026-01-02T03:04:04.750Z"],
  ["1d", "2026-01-01T03:04:05.000Z"],
  ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"],
  ["2026-01-01T00:00:00.5+02:00", "2025-12-31T22:00:00.500Z"],
])("%s is a moment", (text, moment) => expect(new Date(momentOf(text, now) ?? 0).toISOString()).toBe(moment));

test.each(["", "5", "5 m", "-5m", "m", "5w", "2026-01-01", "2026-13-01T00:00:00Z", "yesterday", "2026-01-01T00:00:00"])(
  "%j is none",
  (text) => expect(momentOf(text, now)).toBeUndefined(),
);
