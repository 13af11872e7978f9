import { expect, test } from "vitest";
import { together } from "../../scripts/setup/together.mjs";

const { signal } = new AbortController();

/** Runs until it is stopped. */
const endless = (stopped: () => void) => (stop: AbortSignal) =>
  new Promise<never>((_resolve, reject) =>
    stop.addEventListener("abort", () => {
      stopped();
      reject(stop.reason);
    }),
  );

test("lanes run beside each other", async () => {
  const first = Promise.withResolvers<void>();
  await together(signal, [() => first.promise, async () => first.resolve()]);
});

test("a lane that fails stops the others, and its error is thrown when all have ended", async () => {
  const ended: string[] = [];
  const lanes = [
    endless(() => ended.push("endless")),
    async () => {
      throw new Error("no registry");
    },
  ];
  await expect(together(signal, lanes)).rejects.toThrow("no registry");
  expect(ended).toEqual(["endless"]);
});

test("an interrupt stops all lanes", async () => {
  const interrupt = new AbortController();
  const ended: string[] = [];
  const running = together(interrupt.signal, [endless(() => ended.push("one")), endless(() => ended.push("two"))]);
  interrupt.abort(new Error("stopped by SIGINT"));
  await expect(running).rejects.toThrow("stopped by SIGINT");
  expect(ended).toEqual(["one", "two"]);
});
