import { afterEach, expect, test, vi } from "vitest";
import { createPoolClient } from "./pool-client.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const key = "the probe's key";
const pool = { id: "p", available_count: 1, conditions: [] };

/**
 * A client whose service gives these answers, the last one again and again; `pauses`: how long it waited between, ms.
 */
const answered = (...answers: [status: number, body: object, headers?: Record<string, string>][]) => {
  const fetched = vi.fn(async () => {
    const [status, body, headers] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, {}];
    return new Response(JSON.stringify(body), { status, ...(headers && { headers }) });
  });
  vi.stubGlobal("fetch", fetched);
  const stop = new AbortController();
  return { fetched, stop, client: createPoolClient({ url: "http://service", apiKey: key } as never, stop.signal) };
};
const busy = { code: "unavailable", message: "repeat the request" };

test("a refused request is repeated after the seconds that the service names, and after one if it names none", async () => {
  const { client, fetched } = answered([503, busy, { "retry-after": "2" }], [429, busy], [200, pool]);
  const beganMs = performance.now();
  expect(await client.find("p")).toEqual(pool);
  expect(fetched).toHaveBeenCalledTimes(3);
  expect(performance.now() - beganMs).toBeGreaterThan(2990);
});

test("a date instead of seconds is a second", async () => {
  const { client } = answered([503, busy, { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }], [200, pool]);
  const beganMs = performance.now();
  expect(await client.find("p")).toEqual(pool);
  expect(performance.now() - beganMs).toBeGreaterThan(990);
});

test("what is refused for good is told with the answer's words, and never with the key; a stop ends the pauses", async () => {
  const refused = answered([403, { code: "forbidden", message: "not with this one" }]);
  const error = await refused.client.find("p").catch((caught: Error) => caught);
  expect(String(error)).toContain("403 forbidden: not with this one");
  expect(String(error)).not.toContain(key);
  expect(refused.fetched).toHaveBeenCalledTimes(1);
  const waiting = answered([503, busy, { "retry-after": "60" }]);
  const asked = waiting.client.find("p");
  await expect.poll(() => waiting.fetched.mock.calls.length).toBe(1);
  waiting.stop.abort(new Error("we stop"));
  await expect(asked).rejects.toThrow();
});
