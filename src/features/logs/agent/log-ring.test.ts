import { expect, test } from "vitest";
import { createLogRing, type LogRing } from "./log-ring.ts";

const never = new AbortController().signal;

const kept = async (ring: LogRing): Promise<string[]> => {
  const messages: string[] = [];
  for await (const { message } of ring.read({ follow: false }, never)) messages.push(message);
  return messages;
};

// LOG-6
test("a ring keeps the last half megabyte, and long lines cut", async () => {
  const ring = createLogRing();
  for (let line = 0; line < 10_000; line++) ring.push(`${line} ${"x".repeat(5000)}`);
  const messages = await kept(ring);
  expect(messages.at(-1)?.slice(0, 5)).toBe("9999 ");
  expect(Math.max(...messages.map(({ length }) => length))).toBe(2000);
  const bytes = messages.join("").length * 2;
  expect(bytes).toBeLessThan(512 * 1024);
  expect(bytes).toBeGreaterThan(400 * 1024);
});

// LOG-6
test("empty lines take room, too", async () => {
  const ring = createLogRing();
  for (let line = 0; line < 100_000; line++) ring.push("");
  expect((await kept(ring)).length).toBeLessThan(4000);
});

// LOG-6
test("a reader that falls behind is told what it has lost, and goes on", async () => {
  const ring = createLogRing();
  ring.push("first");
  const reader = ring.read({ follow: true }, never);
  expect((await reader.next()).value?.message).toBe("first");
  for (let line = 1; line <= 1000; line++) ring.push(`${line} ${"x".repeat(2000)}`);
  ring.close();
  const messages: string[] = [];
  for await (const { message } of reader) messages.push(message);
  const lost = Number(/^… (\d+) lines were lost/.exec(messages[0] ?? "")?.[1]);
  expect(messages[1]).toMatch(new RegExp(`^${lost + 1} x`));
  expect(lost + messages.length - 1).toBe(1000);
});

test("control characters can't move a terminal's cursor", async () => {
  const ring = createLogRing();
  ring.push("a\u001b[2Jb\rc\u0000\u0085");
  expect(await kept(ring)).toEqual(["a [2Jb c  "]);
});

// LOG-6
test("lines that a reader must not see are skipped, and its end still comes", async () => {
  const ring = createLogRing({
    lineOf: (text) =>
      text.startsWith("-") ? undefined : { message: `${text}\u0007`, timestamp: "2026-01-02T03:04:05Z" },
    maxChars: 5000,
  });
  for (const text of ["-", "a".repeat(3000), "-", "b"]) ring.push(text);
  ring.close();
  const messages: string[] = [];
  for await (const { message } of ring.read({ follow: true }, never)) messages.push(message);
  expect(messages).toEqual(["a".repeat(2000), "b "]);
});
