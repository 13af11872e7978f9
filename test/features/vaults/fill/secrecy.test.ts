/** A value goes into one CDP message for each field, and nowhere else. */
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type SentCommand, startCdpRelay } from "../../../support/cdp-relay.ts";
import { type FillParts, startFillParts } from "../../../support/fill-parts.ts";

const secret = "hunter2-correct-horse-battery";

let parts: FillParts;
beforeAll(async () => {
  parts = await startFillParts();
});
afterEach(() => parts.clear());
afterAll(() => parts?.[Symbol.asyncDispose]());

test("a value is an argument of the one call that writes it", async () => {
  await using relay = await startCdpRelay(parts.connect);
  const page = await parts.open("frames");
  const values = { "#top": `${secret}-0`, "#in-cross": `${secret}-1` };
  expect((await parts.fill(page, values, { connect: relay.connect })).status).toBe("completed");
  const commands = relay.sent.map((text) => JSON.parse(text) as SentCommand);
  const carriers = commands.filter((command) => JSON.stringify(command).includes(secret));
  expect(carriers.map(({ method, params }) => [method, params?.arguments?.[2]])).toEqual([
    ["Runtime.callFunctionOn", { value: `${secret}-0` }],
    ["Runtime.callFunctionOn", { value: `${secret}-1` }],
  ]);
  for (const { params, ...rest } of carriers) {
    const { arguments: _values, ...others } = params ?? {};
    expect(JSON.stringify([rest, others])).not.toContain(secret);
  }
  expect(relay.received.join()).not.toContain(secret);
});

// FILL-23
test("a fill enables no domain, and attaches only to the page and its frames", async () => {
  await using relay = await startCdpRelay(parts.connect);
  await parts.open("plain", "?other");
  const page = await parts.open("frames");
  await parts.fill(page, { "#top": "a" }, { connect: relay.connect });
  const methods = new Set(relay.sent.map((text) => (JSON.parse(text) as SentCommand).method));
  expect([...methods].sort()).toEqual([
    "Page.createIsolatedWorld",
    "Page.getFrameTree",
    "Runtime.callFunctionOn",
    "Runtime.evaluate",
    "Target.attachToTarget",
    "Target.getTargets",
    "Target.setAutoAttach",
  ]);
  const attached = relay.received.filter((text) => text.includes('"Target.attachedToTarget"'));
  const kinds = attached.map((text) => /"type":"(\w+)"/.exec(text)?.[1]);
  expect(kinds.filter((kind) => kind === "page")).toHaveLength(1);
  expect(kinds.filter((kind) => kind !== "page" && kind !== "iframe")).toEqual([]);
});

// FILL-33
test.each<[string, string]>([
  ["fails", "#short"],
  ["is refused", "#nobody"],
])("a fill that %s tells no value, to its caller or in a log", async (_name, selector) => {
  const page = await parts.open("kinds");
  const outcome: unknown = await parts.fill(page, { "#text": secret, [selector]: secret }).catch((error) => error);
  expect(inspect(outcome, { depth: null, showHidden: true })).not.toContain(secret);
  expect(JSON.stringify(outcome)).not.toContain(secret);
  expect(outcome instanceof Error ? outcome.cause : undefined).toBeUndefined();
  expect(parts.agent.log()).not.toContain(secret);
});

test.each(["no JSON", "[]", '{"id":"x"}', '{"method":"Target.attachedToTarget"}', '{"id":999999,"result":{}}'])(
  "a fill works with a browser that also sends %s",
  async (nonsense) => {
    await using relay = await startCdpRelay(parts.connect, { nonsense });
    const page = await parts.open("plain");
    expect((await parts.fill(page, { "#user": "ada" }, { connect: relay.connect })).status).toBe("completed");
  },
);
