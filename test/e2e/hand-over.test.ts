/** Many callers and few browsers: each browser has one holder at a time, and every caller gets one. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import { filledPool } from "../support/filled-pool.ts";
import { cookieOf, type RawCdp, setCookie, withCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";

const size = 3;
const callers = 10;
const roundsEach = 10;

let stack: Stack;
let poolId: string;
beforeAll(async () => {
  stack = await startStack();
  // Kept, so that each has a name of its own.
  poolId = (await filledPool(stack.kernel, { size, reuse_policy: "keep" })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

/** One caller's time with one browser, ms of one clock. */
type Stay = { browser: string; asked: number; from: number; until: number; served: number; kept: boolean };

/** The browser's own name: its first holder sets it, and the browser keeps it over all releases. */
const nameOf = async (cdp: RawCdp): Promise<string> => {
  const known = await cookieOf(cdp, "browser");
  if (known) return known;
  const name = newId();
  await setCookie(cdp, "browser", name);
  return name;
};

let servedCount = 0;

/** Acquires a browser, marks it, and checks several times whether the mark is still its own. */
const stayOnce = async (): Promise<Stay> => {
  const asked = performance.now();
  const session = await stack.kernel.browserPools.acquire(poolId, { acquire_timeout_seconds: 60 });
  const from = performance.now();
  servedCount += 1;
  const served = servedCount;
  const mark = newId();
  const { browser, kept } = await withCdp(session.cdp_ws_url, async (cdp) => {
    const browser = await nameOf(cdp);
    await setCookie(cdp, "holder", mark);
    for (let checks = 0; checks < 5; checks++)
      if ((await cookieOf(cdp, "holder")) !== mark) return { browser, kept: false };
    return { browser, kept: true };
  });
  const until = performance.now();
  await stack.kernel.browserPools.release(poolId, { session_id: session.session_id });
  return { browser, asked, from, until, served, kept };
};

// LEASE-40
test(`${callers * roundsEach} holders take turns with ${size} browsers, and no two have the same one at once`, async () => {
  const stays: Stay[] = [];
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let round = 0; round < roundsEach; round++) stays.push(await stayOnce());
    }),
  );

  expect(stays).toHaveLength(callers * roundsEach);
  expect(stays.filter(({ kept }) => !kept)).toEqual([]);

  const byBrowser = Map.groupBy(stays, ({ browser }) => browser);
  expect(byBrowser.size).toBe(size);
  for (const own of byBrowser.values()) {
    const inOrder = own.toSorted((a, b) => a.from - b.from);
    for (const [i, stay] of inOrder.entries()) expect(stay.from).toBeGreaterThanOrEqual(inOrder[i - 1]?.until ?? 0);
  }

  // First come, first served: the n-th request is served about n-th. Requests sent at the same time may overtake each
  // other, but none moves by twice the number of callers or more.
  const asked = stays.toSorted((a, b) => a.asked - b.asked);
  for (const [i, { served }] of asked.entries()) expect(Math.abs(served - 1 - i)).toBeLessThan(2 * callers);

  // The last ones are being made anew.
  await expect
    .poll(() => stack.kernel.browserPools.retrieve(poolId), { timeout: 10_000 })
    .toMatchObject({ acquired_count: 0, available_count: size });
});
