import { expect, test } from "vitest";
import type { LogSource } from "./api.ts";
import { agentLineOf, createLeaseLogs, type LeaseLogs } from "./lease-logs.ts";

const line = (more: object): string =>
  JSON.stringify({ level: "info", time: "2026-01-02T03:04:05.006Z", service: "agent", msg: "said", ...more });

// LOG-1
test("a holder sees known facts of the agent's lines, and none that could name a place or a secret", () => {
  const shown = agentLineOf(
    line({ ms: 12, outcome: "changed", err: { stack: "/srv/a.ts" }, address: "10.0.0.1" }),
    "mine",
  );
  expect(shown).toEqual({ message: "info said outcome=changed ms=12", timestamp: "2026-01-02T03:04:05.006Z" });
});

// LOG-3
test("a line of another session, or one that is none, is not shown", () => {
  expect(agentLineOf(line({ session_id: "mine" }), "mine")?.message).toBe("info said");
  expect(agentLineOf(line({ session_id: "other" }), "mine")).toBeUndefined();
  for (const none of ["", "null", "{", "[]", '{"msg":"x"}']) expect(agentLineOf(none, "mine")).toBeUndefined();
});

const textsOf = async (logs: LeaseLogs, source: LogSource): Promise<string[]> => {
  const texts: string[] = [];
  const { signal } = new AbortController();
  for await (const { message } of logs.ring(source).read({ follow: false }, signal)) texts.push(message);
  return texts;
};
const [first, second] = [{ session_id: "first" }, { session_id: "second" }];
const agentLine = (msg: string, session_id: string): string =>
  JSON.stringify({ level: "info", time: "2026-01-02T03:04:05.006Z", service: "agent", msg, session_id });

// LOG-1, LOG-3
test("the first holder reads how its Chromium started, and the next one nothing of the time before", async () => {
  const logs = createLeaseLogs();
  const say = logs.startChromium();
  say("starts");
  // Without a lease there is nothing to end.
  logs.end();
  logs.begin(first);
  say("serves");
  expect(await textsOf(logs, "chromium")).toEqual(["starts", "serves"]);
  logs.end();
  say("between leases");
  logs.begin(second);
  say("serves again");
  expect(await textsOf(logs, "chromium")).toEqual(["serves again"]);
});

// LOG-3
test("another Chromium goes on in the log of a lease, and is new without one", async () => {
  const logs = createLeaseLogs();
  const former = logs.startChromium();
  logs.begin(first);
  former("one");
  const present = logs.startChromium();
  former("last words");
  present("two");
  expect(await textsOf(logs, "chromium")).toEqual(["one", "two"]);
  logs.end();
  present("after the lease");
  const next = logs.startChromium();
  next("starts");
  logs.begin(second);
  expect(await textsOf(logs, "chromium")).toEqual(["starts"]);
});

// LOG-1, LOG-3
test("of the agent's lines a holder reads those of its own lease", async () => {
  const logs = createLeaseLogs();
  logs.noteAgent(agentLine("before", "first"));
  logs.begin(first);
  logs.noteAgent(agentLine("bound", "first"));
  logs.noteAgent(agentLine("of another", "second"));
  expect(await textsOf(logs, "agent")).toEqual(["info bound"]);
  logs.end();
  logs.noteAgent(agentLine("late", "first"));
  logs.begin(first);
  expect(await textsOf(logs, "agent")).toEqual([]);
});
