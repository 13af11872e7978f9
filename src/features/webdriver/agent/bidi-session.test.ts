import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, expect, test, vi } from "vitest";
import { type BidiSession, createBidiSession } from "./bidi-session.ts";
import type { Command, Message } from "./command.ts";

/** Commands that may be under way. */
const mostUnderWay = 1024;

/** A session whose mapper opens it, and answers the client's commands when it is told to. */
let session: BidiSession;
let run: Message[];
const send = vi.fn<(message: Message) => void>();
const end = vi.fn();
beforeEach(() => {
  run = [];
  send.mockReset();
  end.mockReset();
  const mapper = {
    run(command: Message) {
      if (command.method !== "session.new") return void run.push(command);
      const capabilities = { browserName: "Chrome/156.0.1.2", webSocketUrl: "ws://here" };
      session.tell({ id: command.id, type: "success", result: { capabilities } });
    },
  };
  session = createBidiSession({ mapper: mapper as never, send, end });
});

const take = async (from: number, count: number): Promise<void> => {
  for (let id = from; id < from + count; id += 1)
    session.take({ id, method: "browser.getUserContexts", params: {} } as Command);
  await nextTurn();
};
const refusals = (): Message[] => send.mock.calls.flatMap(([message]) => (message.type === "error" ? [message] : []));

test("a client may send any number of commands, if each is answered", async () => {
  for (let round = 0; round < 3; round += 1) {
    await take(round * mostUnderWay, mostUnderWay);
    for (const { id } of run.splice(0)) session.tell({ id, type: "success", result: {} });
  }
  expect(refusals()).toEqual([]);
  expect(send).toHaveBeenCalledTimes(3 * mostUnderWay);
});

test("a client with too many commands under way gets an error for each further one; events answer none", async () => {
  await take(0, mostUnderWay);
  session.tell({ type: "event", method: "log.entryAdded", params: {} });
  await take(mostUnderWay, 2);
  expect(refusals()).toEqual([
    expect.objectContaining({ id: mostUnderWay, error: "unknown error" }),
    expect.objectContaining({ id: mostUnderWay + 1, error: "unknown error" }),
  ]);
  session.tell({ id: 0, type: "success", result: {} });
  await take(mostUnderWay + 2, 1);
  expect(run).toHaveLength(mostUnderWay + 1);
});
