/** What the tokens of sessions that are over cost, which whoever had them can send for as long as they like. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { signLiveViewToken, signSessionToken } from "../../../src/core/protocol/session-token.ts";
import { eventually } from "../../support/eventually.ts";
import { type ApiWithLeases, startApiWithLeases } from "../projects/api-with-leases.ts";

const attempts = 10;

let api: ApiWithLeases;
beforeAll(async () => {
  api = await startApiWithLeases({
    BROWSERPOOL_FAILED_ATTEMPTS_PER_MINUTE: String(attempts),
    BROWSERPOOL_TRUSTED_PROXIES: "127.0.0.0/8",
  });
});
afterAll(() => api?.[Symbol.asyncDispose]());

let addresses = 0;
const anAddress = (): string => `198.51.100.${++addresses}`;

const ways = ["telemetry/stream", "live"] as const;
const urlOf = (way: (typeof ways)[number]): string => {
  const { signingKey } = api.services;
  const claims = { sessionId: newId(), poolUid: newId() };
  const jwt =
    way === "live"
      ? signLiveViewToken(signingKey, { ...claims, readOnly: false })
      : signSessionToken(signingKey, claims);
  return `${api.url}/gateway/${claims.sessionId}/${way}?jwt=${jwt}`;
};
const statusesOf = async (urls: string[], address: string): Promise<number[]> => {
  const statuses: number[] = [];
  for (const url of urls) {
    const answer = await fetch(url, { headers: { "x-forwarded-for": address } });
    await answer.text();
    statuses.push(answer.status);
  }
  return statuses;
};

// LIMIT-33, LIMIT-19
test.each(ways)("%s: they count as failed attempts of their address", async (way) => {
  const urls = Array.from({ length: attempts + 3 }, () => urlOf(way));
  await eventually("the store answers", async () => (await statusesOf([urlOf(way)], anAddress()))[0] === 404);
  const statuses = await statusesOf(urls, anAddress());
  expect(statuses.slice(0, attempts)).toEqual(Array(attempts).fill(404));
  expect(statuses.at(-1)).toBe(429);
  expect(await statusesOf(urls.slice(0, 1), anAddress())).toEqual([404]);
});

// LIMIT-33
test("one that is sent again and again is looked up once a second", async () => {
  const lookups = vi.spyOn(api.services.store, "lease");
  const url = urlOf("telemetry/stream");
  const startMs = performance.now();
  for (let round = 0; round < 20; round += 1) await statusesOf([url, url, url, url, url], anAddress());
  const seconds = Math.ceil((performance.now() - startMs) / 1000);
  expect(lookups.mock.calls.length).toBeLessThanOrEqual(seconds);
});
