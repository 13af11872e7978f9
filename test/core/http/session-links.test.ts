import { afterAll, beforeAll, expect, test } from "vitest";
import type { Permission } from "../../../src/core/model/permission.ts";
import { holdSession } from "../../support/held-session.ts";
import { aPool } from "../../support/observed-pool.ts";
import { type ApiWithLeases, startApiWithLeases } from "../projects/api-with-leases.ts";

let api: ApiWithLeases;
beforeAll(async () => {
  api = await startApiWithLeases();
});
afterAll(() => api?.[Symbol.asyncDispose]());

const keyWith = async (permissions: Permission[]): Promise<string> => {
  const { body } = await api.call("POST", "/org/api_keys", { body: { name: "k", permissions } });
  return String(body.key);
};

/** The names of the fields with which the session's browser can be opened. */
const links = (session: unknown): string[] =>
  Object.entries(session as object).flatMap(([name, value]) => (/\/gateway\//.test(String(value)) ? [name] : []));

// AUTH-13
test("a key that may only read gets sessions without their URLs", async () => {
  const { signingKey, pools, projects } = api.services;
  const held = await holdSession({ parts: api.parts, signingKey }, { project: api.defaultProject });
  const namespace = projects.find(api.defaultProject)?.namespace ?? "";
  const pool = aPool({}, undefined, { uid: held.poolUid, namespace });
  api.services.pools = { ...pools, list: () => [pool] };
  const list = async (key: string) => (await api.call("GET", "/browsers", { key })).body as unknown as unknown[];
  const get = async (key: string) => (await api.call("GET", `/browsers/${held.session}`, { key })).body;
  const [reader, user] = [await keyWith(["pools:read"]), await keyWith(["pools:read", "browsers:use"])];
  expect(links(await get(user))).toContain("cdp_ws_url");
  expect((await list(user)).map(links)).toEqual([links(await get(user))]);
  expect(await get(reader)).toMatchObject({ session_id: held.session });
  expect(links(await get(reader))).toEqual([]);
  expect((await list(reader)).map(links)).toEqual([[]]);
});
