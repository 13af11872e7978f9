/** What the log says of fields that the service ignores. */
import { devNull } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogger } from "../../../src/platform/base/log.ts";
import { eventually } from "../../support/eventually.ts";
import { type OrgApi, startOrgApi } from "../projects/org-api.ts";

let api: OrgApi;
const lines: string[] = [];
beforeAll(async () => {
  api = await startOrgApi(
    {},
    createLogger("info", "test", devNull, (json) => void lines.push(json)),
  );
});
afterAll(() => api?.[Symbol.asyncDispose]());

const lineOf = (id: string): Promise<string> =>
  eventually("the request is logged", () => lines.find((line) => line.includes(id) && line.includes('"status"')));

// HTTP-6
test("the line of a request names what was ignored, as the answer does, and no value", async () => {
  const asked = { url: "https://www.shop.example/", "wo\nrd": "s3cret-1", inner: { deep: "s3cret-2" } };
  const answer = await fetch(`${api.url}/config-registry/lookup?tokn=s3cret-3`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${api.organizationKey}`,
      "content-type": "application/json",
      "x-request-id": "ignoring",
    },
    body: JSON.stringify(asked),
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-ignored-fields")).toBe("wo%0Ard, inner, ?tokn");
  expect(JSON.parse(await lineOf("ignoring"))).toMatchObject({ status: 200, ignored: "wo%0Ard, inner, ?tokn" });
  expect(lines.join()).not.toContain("s3cret");
});

// HTTP-6
test("a request with nothing else has no such field", async () => {
  await api.call("GET", "/browser_pools?limit=1", { headers: { "x-request-id": "knowing" } });
  expect(JSON.parse(await lineOf("knowing"))).not.toHaveProperty("ignored");
});
