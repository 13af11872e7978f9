/** What one request with the worst body of its route's bounds makes the API do. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { maxBodyNames } from "../../../src/core/http/body-entries.ts";
import type { Route } from "../../../src/core/http/route.ts";
import { permissions } from "../../../src/core/model/permission.ts";
import { unboundedCallers } from "../../support/simulated-node/simulated-cluster.ts";
import { boundsOf, named, pathOf, repeated, withBody, worstBodies } from "../../support/worst-bodies.ts";
import { type OrgApi, startOrgApi } from "../projects/org-api.ts";

let api: OrgApi;
/** With every permission: some have to be named. */
let key: string;
beforeAll(async () => {
  api = await startOrgApi(unboundedCallers);
  key = String((await api.call("POST", "/org/api_keys", { body: { name: "all", permissions } })).body.key);
});
afterAll(() => api?.[Symbol.asyncDispose]());

const send = async (route: Route, body: string): Promise<{ status: number; text: string }> => {
  const answer = await fetch(api.url + pathOf(route), {
    method: route.method.toUpperCase(),
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  return { status: answer.status, text: await answer.text() };
};

describe.each(withBody.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const))(
  "%s",
  (_name, route) => {
    // LIMIT-31
    test("refuses more entries and names than its bound before it looks at them", async () => {
      const { bytes, entries } = boundsOf(route);
      const tooMany = `{"a":[${repeated(Math.min(entries + 10, bytes / 2 - 10), () => "0").join(",")}]}`;
      for (const body of [tooMany, JSON.stringify(named(Math.max(entries, maxBodyNames) + 10, 1))]) {
        const { status, text } = await send(route, body);
        expect(JSON.parse(text)).toMatchObject({
          code: "payload_too_large",
          message: expect.stringMatching(/entries|names/),
        });
        expect(status).toBe(413);
      }
    });

    // LIMIT-32
    test("answers the worst body within its bounds with a short error", async () => {
      for (const [what, body] of Object.entries(worstBodies(route))) {
        const { status, text } = await send(route, JSON.stringify(body));
        expect(status, `${what}: ${text.slice(0, 500)}`).toBeLessThan(500);
        expect(text.length, `${what}: ${text.slice(0, 500)}`).toBeLessThan(50_000);
        expect(JSON.parse(text || "{}").details?.length ?? 0, what).toBeLessThanOrEqual(20);
      }
    });
  },
);

// HTTP-25
test("a body that says it is not UTF-8 is 415", async () => {
  const answer = await fetch(`${api.url}/browser_pools`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json; charset=utf-16" },
    body: Buffer.from('{"size":1}', "utf16le"),
  });
  expect(answer.status).toBe(415);
});
