import { expect, test } from "vitest";
import { StartRecording } from "./agent/api.ts";
import { mostFramerate, mostRecordingSeconds, StartReplayBody } from "./recording-wire.ts";
import { claimName, mostBytesOf, namedIn } from "./recordings.ts";

// REPLAY-8
test("an agent takes every recording that callers may ask for", () => {
  const lease = { session_id: "s", epoch: 1, seq: 1 };
  for (const given of [{}, { framerate: mostFramerate, max_duration_in_seconds: mostRecordingSeconds }]) {
    const { framerate, max_duration_in_seconds: seconds } = StartReplayBody.parse(given);
    const wanted = { ...lease, framerate, seconds, max_bytes: mostBytesOf(seconds) };
    expect(StartRecording.safeParse(wanted)).toMatchObject({ success: true });
    expect(StartRecording.safeParse({ ...wanted, framerate: mostFramerate + 1 }).success).toBe(false);
    expect(StartRecording.safeParse({ ...wanted, max_bytes: mostBytesOf(mostRecordingSeconds) + 1 }).success).toBe(
      false,
    );
  }
});

test("a recording's claim names its session and itself", () => {
  expect(namedIn(claimName("a.session-1", "abc"))).toEqual({ session: "a.session-1", id: "abc" });
});
