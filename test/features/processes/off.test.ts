/** An installation that has no processes, which is each one that does not say otherwise. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { processRoutes } from "../../../src/features/processes/routes.ts";
import { type OrgApi, startOrgApi } from "../../core/projects/org-api.ts";

let api: OrgApi;
beforeAll(async () => {
  api = await startOrgApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const bodies: Record<string, object> = {
  execProcess: { command: "true" },
  spawnProcess: { command: "true" },
  writeProcessInput: { data_b64: "" },
  resizeProcess: { cols: 1, rows: 1 },
  killProcess: { signal: "TERM" },
};

// PROC-1, PROC-2
test("each call is refused by name, to keys that may, and 403 to others", async () => {
  const made = await api.call("POST", "/org/api_keys", { body: { name: "p", permissions: ["processes:run"] } });
  expect(made.status).toBe(201);
  expect(processRoutes).toHaveLength(7);
  for (const { method, path, operationId } of processRoutes) {
    const at = path.replaceAll(/\{\w+\}/g, "x");
    const body = bodies[operationId];
    const ask = (key?: string) => api.call(method.toUpperCase(), at, { ...(body && { body }), ...(key && { key }) });
    expect(await ask(String(made.body.key))).toMatchObject({
      status: 400,
      body: { code: "not_supported_here", message: expect.stringContaining("docs/processes.md") },
    });
    expect(await ask()).toMatchObject({ status: 403, body: { code: "forbidden" } });
  }
});

// PROC-4, HTTP-32
test.each([
  ["as_root", true],
  ["as_user", "nobody"],
])("%s is refused by name", async (field, value) => {
  const made = await api.call("POST", "/org/api_keys", { body: { name: "p", permissions: ["processes:run"] } });
  const body = { command: "true", [field]: value };
  const answer = await api.call("POST", "/browsers/x/process/exec", { body, key: String(made.body.key) });
  expect(answer).toMatchObject({ status: 400, body: { code: "not_supported_here", details: [{ path: field }] } });
});
