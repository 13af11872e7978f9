/** Bounds of what a project keeps in etcd, which all projects share. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OrgApi, startOrgApi } from "./org-api.ts";

let api: OrgApi;
beforeAll(async () => {
  api = await startOrgApi({ BROWSERPOOL_OBJECTS_PER_PROJECT: "vaults=3,credentials=2" });
});
afterAll(() => api?.[Symbol.asyncDispose]());

const newProject = async (): Promise<(method: string, path: string, body?: object) => ReturnType<OrgApi["call"]>> => {
  const { body: project } = await api.call("POST", "/org/projects", { body: { name: `quota ${Math.random()}` } });
  const { body } = await api.call("POST", "/org/api_keys", { body: { name: "k", project_id: project.id } });
  return (method, path, more) => api.call(method, path, { key: String(body.key), ...(more && { body: more }) });
};

// LIMIT-36, HTTP-19
test("a project has so many objects of a kind and no more, and again when one is gone; others have their own", async () => {
  const [call, other] = [await newProject(), await newProject()];
  const statuses: number[] = [];
  for (const name of ["a", "b", "c"]) statuses.push((await call("POST", "/vaults", { name })).status);
  expect(statuses).toEqual([200, 200, 200]);
  const refused = await call("POST", "/vaults", { name: "d" });
  expect(refused).toMatchObject({
    status: 409,
    body: {
      code: "conflict",
      message: expect.stringMatching(/3 vaults, of 3 at most.*BROWSERPOOL_OBJECTS_PER_PROJECT/),
    },
  });
  // It exists, so it needs no room.
  expect((await call("POST", "/vaults", { name: "a" })).status).toBe(200);
  expect((await call("POST", "/profiles", { name: "a" })).status).toBeLessThan(300);
  expect((await other("POST", "/vaults", { name: "a" })).status).toBe(200);
  expect((await call("DELETE", "/vaults/c")).status).toBe(204);
});

// LIMIT-36
test("nothing is left of a login that had no room", async () => {
  const call = await newProject();
  const make = (name: string) =>
    call("POST", "/credentials", { name, domain: "shop.example", values: { password: "x".repeat(4000) } });
  const statuses = [(await make("a")).status, (await make("b")).status, (await make("c")).status];
  expect(statuses.map((status) => status < 300)).toEqual([true, true, false]);
  expect(statuses[2]).toBe(409);
  expect((await call("GET", "/credentials")).body).toHaveLength(2);
});
