import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createLogger } from "../../../platform/base/log.ts";
import { startLosses } from "./note-losses.ts";

const start = (note: (key: string) => Promise<void>) => {
  const meter = { worked: () => undefined, waiting: () => undefined };
  const losses = startLosses({ note, name: "losses", log: createLogger("silent", "test"), meter });
  onTestFinished(losses.stop);
  return losses;
};
const { signal } = new AbortController();

test("nothing is waited for when nothing was lost", async () => {
  const losses = start(() => Promise.reject(new Error("not asked")));
  losses.look(undefined);
  await losses.noted(signal);
});

test("all objects that were to be looked at have been, though more than run at the same time", async () => {
  const seen: string[] = [];
  const losses = start(async (key) => {
    await sleep(5);
    seen.push(key);
  });
  const keys = Array.from({ length: 40 }, (_, index) => `a/${index}`);
  for (const key of keys) losses.look(key);
  await losses.noted(signal);
  expect(seen.toSorted()).toEqual(keys.toSorted());
});

test("a loss while its object is looked at is looked for again", async () => {
  let seen = 0;
  const first = Promise.withResolvers<void>();
  const losses = start(() => (++seen === 1 ? first.promise : Promise.resolve()));
  losses.look("a/b");
  await sleep(5);
  losses.look("a/b");
  const noted = losses.noted(signal);
  first.resolve();
  await noted;
  expect(seen).toBe(2);
});

test("rounds go on when a look fails, and when they must stop", async () => {
  const failing = start(() => Promise.reject(new Error("Redis is away")));
  failing.look("a/b");
  await failing.noted(signal);
  const stop = new AbortController();
  const hanging = Promise.withResolvers<void>();
  const losses = start(() => hanging.promise);
  losses.look("a/b");
  const noted = losses.noted(stop.signal);
  stop.abort();
  await noted;
  hanging.resolve();
});
