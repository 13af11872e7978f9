import { expect, test } from "vitest";
import { createDestinationGate } from "./destination-gate.ts";

const { signal } = new AbortController();
const gateNow = () => createDestinationGate({ now: () => performance.now(), random: () => 0.5 });

/** Work that ends when this test says so. */
const held = () => {
  const ends: (() => void)[] = [];
  let running = 0;
  const work = async () => {
    running += 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
    return "sent" as const;
  };
  return { work, running: () => running, endOne: () => ends.shift()?.() };
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

// TELEMETRY-9
test("four run at once, and the next one begins when one has ended", async () => {
  const gate = gateNow();
  const { work, running, endOne } = held();
  const passes = Array.from({ length: 6 }, () => gate.pass(work, signal));
  await settled();
  expect(running()).toBe(4);
  endOne();
  await settled();
  expect(running()).toBe(4);
  for (let n = 0; n < 5; n++) {
    endOne();
    await settled();
  }
  expect(await Promise.all(passes)).toEqual(Array(6).fill("sent"));
});

test("who gives up in the moment of its turn leaves no place taken, nor does who gives up before, or whose work fails", async () => {
  const gate = gateNow();
  for (let ticks = 0; ticks < 12; ticks++) {
    const { work, endOne } = held();
    const passes = Array.from({ length: 4 }, () => gate.pass(work, signal));
    const leaving = new AbortController();
    const waits = gate.pass(work, leaving.signal).catch((error: Error) => error.message);
    await settled();
    // Its turn comes with the end of another one, some ticks later; in one of the rounds it has given up, and nobody
    // has noticed yet.
    endOne();
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    leaving.abort(new Error("the session has ended"));
    for (let n = 0; n < 5; n++) {
      await settled();
      endOne();
    }
    await Promise.all(passes);
    await waits;
    const before = new AbortController();
    before.abort(new Error("over"));
    await expect(gate.pass(work, before.signal)).rejects.toThrow("over");
    await expect(gate.pass(() => Promise.reject(new Error("a bug")), signal)).rejects.toThrow("a bug");
  }
  const { work, running, endOne } = held();
  const passes = Array.from({ length: 4 }, () => gate.pass(work, signal));
  await settled();
  expect(running()).toBe(4);
  for (let n = 0; n < 4; n++) endOne();
  await Promise.all(passes);
});
