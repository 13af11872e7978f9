import { beforeEach, expect, test } from "vitest";
import { aPool } from "../../../../test/support/observed-pool.ts";
import { KubeError } from "../../../platform/kube/kube-error.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { createRefusedStarts, type RefusedStarts } from "./refused-starts.ts";

let nowMs = 0;
let refused: RefusedStarts;
beforeEach(() => {
  nowMs = 10_000;
  refused = createRefusedStarts(() => nowMs);
});

type Pod = Parameters<RefusedStarts["note"]>[1];
const note = (of: BrowserPool, error: KubeError, pod: Partial<Pod> = {}) =>
  refused.note(of, { podName: "p-1", isAsked: true, ...pod }, error);
const pool = aPool();
const { uid } = pool.metadata;
const quota = (pod: string) => new KubeError("Forbidden", 403, `pods "${pod}" is forbidden: exceeded quota: ${pod}`);
const webhook = new KubeError("InternalError", 500, 'Internal error occurred: failed calling webhook "x": no route');
const timedOut = new KubeError("Unreachable", 0, "no answer");

/** Notes refusals, each when its try is due; returns the pauses between them, ms. */
const pauses = (count: number, error: KubeError): number[] =>
  Array.from({ length: count }, () => {
    const { nextMs } = note(pool, error);
    const pause = nextMs - nowMs;
    nowMs = nextMs;
    return pause;
  });

// FILL-RATE-8, FILL-RATE-9
test("each try waits twice as long as the one before, five minutes at most", () => {
  expect(pauses(11, quota("p-1"))).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((s) => s * 1000));
  refused.created(uid);
  expect(refused.of(pool)).toBeUndefined();
  expect(pauses(1, quota("p-1"))).toEqual([1000]);
});

test("pods that were asked for at once count as one try, with one text", () => {
  const texts = ["p-1", "p-2"].map((pod) => note(pool, quota(pod), { podName: pod }).message);
  expect(texts).toEqual(["exceeded quota: POD", "exceeded quota: POD"]);
  expect(refused.of(pool)?.count).toBe(1);
});

// FILL-RATE-9
test.each<[string, KubeError, number, boolean]>([
  ["a refusal shows at once", quota("p-1"), 0, true],
  ["an error does not show at once, it may pass", webhook, 0, false],
  ["it shows when it lasts for a second", webhook, 1000, true],
  ["no answer does not show", timedOut, 5000, false],
])("%s", (_, error, laterMs, isShown) => {
  const { shownFromMs } = note(pool, error);
  expect(shownFromMs <= nowMs + laterMs).toBe(isShown);
});

test("no answer shows when there is none again", () => {
  pauses(1, timedOut);
  expect(note(pool, timedOut).shownFromMs).toBe(nowMs);
});

test.each<[string, KubeError, boolean, boolean]>([
  ["without an answer", timedOut, true, true],
  ["after a server error", new KubeError("InternalError", 500, "etcdserver: request timed out"), true, true],
  ["never after a refusal", quota("p-1"), true, false],
  ["never when a webhook was not reached, which comes before", webhook, true, false],
  ["never when it was not asked for", timedOut, false, false],
])("a pod may exist %s", (_, error, isAsked, mayExist) => {
  expect(note(pool, error, { isAsked }).mayExist).toBe(mayExist);
});

test("another spec is tried at once, and its refusals are counted anew", () => {
  pauses(4, quota("p-1"));
  note(pool, quota("p-1"));
  const changed = aPool({}, {}, { generation: 2 });
  expect(refused.of(changed)).toMatchObject({ count: 0, nextMs: 0 });
  expect(note(changed, quota("p-1")).count).toBe(1);
});
