import { expect, test } from "vitest";
import { aPool } from "../../../../test/support/observed-pool.ts";
import { watchEpochs } from "./watch-epochs.ts";

const pool = (uid: string, leaseEpoch?: number) => aPool({}, { leaseEpoch }, { uid, name: uid });

test("epochs are compared for pools that have begun, and for none of which Redis can lose nothing", async () => {
  const stop = new AbortController();
  const asked: string[] = [];
  const differing: string[] = [];
  const watching = watchEpochs(
    {
      source: { list: () => [pool("same", 3), pool("lost", 3), pool("over", 3), pool("new")] },
      isSettled: ({ metadata }) => metadata.uid === "over",
      repairs: {
        async epoch(uid) {
          asked.push(uid);
          return uid === "same" ? 3 : 0;
        },
      },
      onDiffers: (key) => differing.push(key),
      onReturn: () => undefined,
    },
    stop.signal,
  );
  await expect.poll(() => differing.length).toBeGreaterThan(0);
  stop.abort();
  await watching;
  expect(asked.slice(0, 2)).toEqual(["same", "lost"]);
  expect(new Set(asked)).toEqual(new Set(["same", "lost"]));
  expect(new Set(differing)).toEqual(new Set(["project/lost"]));
});
