import { expect, test, vi } from "vitest";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { CdpRefused } from "../../../platform/cdp/cdp-errors.ts";
import type { Frame } from "./frames.ts";
import { type Write, writeFields } from "./write-fields.ts";

const frame: Frame = { sessionId: "s", objectId: "o", parent: undefined };
const writeOf = (id: number, value = "secret"): Write =>
  ({ target: { frame, id, selector: "#f" }, binding: { value: () => new Sensitive(value) } }) as unknown as Write;
const filled = { isLeaving: false, mayLeave: false };

/** Writes three fields; the page gives these answers to the calls that reach it, an error stands for none. */
const write = async (answers: (object | Error | boolean)[], { writes = [1, 2, 3].map((id) => writeOf(id)) } = {}) => {
  const send = vi.fn(async (_method: string, _params: unknown) => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return { result: { value: answer } };
  });
  const cdp = { send, isOpen: () => true } as unknown as CdpConnection;
  const results = await writeFields(cdp, writes, new AbortController().signal);
  return { statuses: results.map(({ status, error_code }) => (error_code ? `${status} ${error_code}` : status)), send };
};
const none = ["not_attempted", "not_attempted"];

// FILL-21, FILL-30
test("after a field that is not filled for sure no further secret is typed", async () => {
  const cut = new Error("the connection is closed");
  const gone = new CdpRefused("Cannot find context with specified id");
  const elsewhere = new CdpRefused("Inspected target navigated or closed");
  for (const [answer, said] of [
    [cut, "unknown execution_failed"],
    [elsewhere, "unknown target_changed"],
    [gone, "failed target_changed"],
    [{ ...filled, problem: "element_not_editable" }, "failed element_not_editable"],
    [{ what: "a page that answers rubbish" }, "failed execution_failed"],
  ] as const) {
    const { statuses, send } = await write([answer, filled, filled]);
    expect(statuses).toEqual([said, ...none]);
    expect(send).toHaveBeenCalledTimes(1);
  }
});

test("fields are written in order, and a document that is on its way out gets no further value", async () => {
  expect((await write([filled, filled, filled])).statuses).toEqual(["filled", "filled", "filled"]);
  const leaving = await write([{ ...filled, isLeaving: true }, filled, filled]);
  expect(leaving.statuses).toEqual(["filled", "failed target_changed", "not_attempted"]);
  // The page is asked before the next write, by a call without a value.
  const unsure = await write([{ ...filled, mayLeave: true }, true, filled]);
  expect(unsure.statuses).toEqual(["filled", "failed target_changed", "not_attempted"]);
  expect(JSON.stringify(unsure.send.mock.calls[1])).not.toContain("secret");
  const stays = await write([{ ...filled, mayLeave: true }, false, filled, filled]);
  expect(stays.statuses).toEqual(["filled", "filled", "filled"]);
});

test("a value that can't be made fails its field, and nothing is sent", async () => {
  const broken = {
    ...writeOf(1),
    binding: {
      value: () => {
        throw new Error("no such secret");
      },
    },
  } as unknown as Write;
  const { statuses, send } = await write([], { writes: [broken, writeOf(2)] });
  expect([statuses, send.mock.calls.length]).toEqual([["failed execution_failed", "not_attempted"], 0]);
});
