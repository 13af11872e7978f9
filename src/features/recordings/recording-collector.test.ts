import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { createLogger } from "../../platform/base/log.ts";
import { startRecordingCollector } from "./recording-collector.ts";

// REPLAY-9
test("a replica that stops breaks off its look for old recordings", async () => {
  const begun = vi.fn();
  const list = async function* (_folder: string, { signal }: { signal: AbortSignal }) {
    begun();
    // A store that takes long to answer.
    if (!signal.aborted) await once(signal, "abort");
    signal.throwIfAborted();
    yield* [];
  };
  const collector = startRecordingCollector({
    blobs: { list },
    claims: { leave: async () => undefined },
    records: { takeSweep: async () => true },
    config: { keptRecordings: { seconds: 60 } },
    log: createLogger("silent", "test"),
  } as unknown as Parameters<typeof startRecordingCollector>[0]);
  await vi.waitFor(() => expect(begun).toHaveBeenCalled());
  // It would take twenty minutes.
  await collector.stop();
}, 20_000);
