import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { createTabInput } from "./tab-input.ts";

/** More than may wait for a page. */
const many = 100;
const key = (of: string) =>
  ({ type: "key", action: "down", key: of, code: "", key_code: 0, modifiers: 0, location: 0, repeat: false }) as never;

/** A tab whose page does with its inputs what `answer` says. */
const tabWith = (answer: () => Promise<unknown>) => {
  const send = vi.fn((..._command: unknown[]) => answer());
  return { send, input: createTabInput({ send } as unknown as CdpConnection, "tab") };
};

// VIEW-12
test.each([
  ["takes", async () => ({})],
  ["refuses", () => Promise.reject(new Error("no"))],
])("a page that %s its inputs gets all of them", async (_what, answer) => {
  const { send, input } = tabWith(answer);
  for (let sent = 0; sent < many; sent += 1) {
    input.send(key("a"));
    await nextTurn();
  }
  expect(send).toHaveBeenCalledTimes(many);
});

test("a page that answers nothing gets no more than some, and goes on when it answers", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const { send, input } = tabWith(() => promise);
  for (let sent = 0; sent < many; sent += 1) input.send(key("a"));
  const before = send.mock.calls.length;
  expect(before).toBeLessThan(many);
  resolve({});
  await nextTurn();
  input.send(key("b"));
  expect(send.mock.calls.length).toBe(before + 1);
});
