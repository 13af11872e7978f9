/** What `GET /org/audit` of a real service tells of calls, and to whom. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Permission } from "../../src/core/model/permission.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { AuditLine, RecentLine } from "../../src/platform/audit/audit-line.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
beforeAll(async () => {
  stack = await startProject();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

type Key = { id: string; key: string };

/** A key of the test's project, or of the organization. */
const keyWith = async (permissions: Permission[]): Promise<Key> => {
  const project_id = permissions.includes("organization") ? null : stack.project;
  const answer = await stack.call("POST", "/org/api_keys", { name: `k-${newId()}`, project_id, permissions });
  return (await answer.json()) as Key;
};

const callAs = ({ key }: Key, method: string, path: string, body?: unknown): Promise<Response> =>
  stack.call(method, path, body, { authorization: `Bearer ${key}` });

type Page = { lines: RecentLine[]; next: string | undefined };

const pageOf = async (filters: Record<string, string>): Promise<Page> => {
  const answer = await stack.call("GET", `/org/audit?${new URLSearchParams(filters)}`, undefined, {
    authorization: `Bearer ${stack.organization_key}`,
  });
  expect(answer.status).toBe(200);
  const next = answer.headers.get("x-next-cursor") ?? undefined;
  expect(answer.headers.get("x-has-more")).toBe(String(next !== undefined));
  return { lines: RecentLine.array().parse(await answer.json()), next };
};

/** All lines with these filters, page by page. */
const linesOf = async (filters: Record<string, string>): Promise<AuditLine[]> => {
  const lines: RecentLine[] = [];
  let cursor: string | undefined;
  do {
    const page: Page = await pageOf({ ...filters, ...(cursor && { cursor }) });
    lines.push(...page.lines);
    cursor = page.next;
  } while (cursor !== undefined);
  return lines.flatMap((line) => AuditLine.safeParse(line).data ?? []);
};

const untilThere = (filters: Record<string, string>, count: number): Promise<AuditLine[]> =>
  eventually(`${count} lines with ${JSON.stringify(filters)}`, async () => {
    const lines = await linesOf(filters);
    return lines.length >= count && lines;
  });

// AUDIT-6
test("calls are found by key, project, verb, result, session and time, and no value is in them", async () => {
  const key = await keyWith(["browsers:use", "vaults:write", "credentials:write"]);
  const other = await keyWith(["pools:read"]);
  const { id: pool } = await filledPool(stack.kernel, { size: 1 });
  const begin = new Date().toISOString();
  const acquired = await callAs(key, "POST", `/browser_pools/${pool}/acquire`, { acquire_timeout_seconds: 30 });
  const session = (await acquired.json()) as { session_id: string; cdp_ws_url: string };
  const { id: vault } = (await (await callAs(key, "POST", "/vaults", { name: `v-${newId()}` })).json()) as Key;
  const secret = `s3cret${newId()}`;
  const login = { name: `n-${newId()}`, domain: "shop.example", values: { password: secret } };
  expect((await callAs(key, "POST", "/credentials", login)).status).toBe(201);
  expect((await callAs(key, "DELETE", `/vaults/${vault}`)).status).toBe(204);
  expect((await callAs(other, "DELETE", `/vaults/${secret}`)).status).toBe(403);
  await callAs(key, "DELETE", `/browsers/${session.session_id}`);

  const own = await untilThere({ key_id: key.id }, 5);
  expect(own.map(({ verb, result }) => `${verb} ${result}`)).toEqual([
    "deleteBrowser done",
    "deleteVault done",
    "createCredential done",
    "upsertVault done",
    "acquireBrowser done",
  ]);
  expect(own.map(({ time }) => time)).toEqual(
    own
      .map(({ time }) => time)
      .toSorted()
      .reverse(),
  );
  expect(await linesOf({ key_id: key.id, verb: "deleteVault" })).toMatchObject([
    { project: stack.project, object: `/vaults/${vault}`, status: 204 },
  ]);
  expect(await untilThere({ key_id: other.id, result: "refused" }, 1)).toMatchObject([
    { project: null, verb: "deleteVault", object: "/vaults/{id_or_name}", status: 403, code: "forbidden" },
  ]);
  expect(await linesOf({ project: stack.project, verb: "deleteVault" })).toMatchObject([{ key_id: key.id }]);
  expect(await linesOf({ session: session.session_id })).toMatchObject([
    { verb: "deleteBrowser", key_id: key.id },
    { verb: "acquireBrowser", key_id: key.id },
  ]);
  expect(await linesOf({ key_id: key.id, since: own[1]?.time ?? "" })).toHaveLength(2);
  expect(await linesOf({ key_id: key.id, until: begin })).toEqual([]);
  expect(await linesOf({ key_id: key.id, since: begin, until: new Date(Date.now() + 60_000).toISOString() })).toEqual(
    own,
  );

  const text = JSON.stringify(await linesOf({ limit: "100" }));
  const token = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "";
  for (const value of [secret, key.key, other.key, stack.organization_key, token, "jwt="])
    expect(text).not.toContain(value);
});

// AUDIT-6
test("the project is also found by its name, and its lines by its id after it was deleted", async () => {
  const { id, name } = await stack.kernel.projects.create({ name: `gone ${newId()}` });
  const made = await stack.call("POST", "/vaults", { name: "v" }, { "x-kernel-project-id": id });
  const { id: vault } = (await made.json()) as Key;
  expect(await untilThere({ project: name }, 1)).toMatchObject([{ verb: "upsertVault", project: id }]);
  await stack.call("DELETE", `/vaults/${vault}`, undefined, { "x-kernel-project-id": id });
  await eventually(
    "the project is deleted",
    async () => (await stack.call("DELETE", `/org/projects/${id}`)).status < 300,
  );
  expect(await untilThere({ project: id }, 2)).toMatchObject([{ verb: "deleteVault" }, { verb: "upsertVault" }]);
  // Other projects are deleted, too.
  await eventually("its deletion is there", async () =>
    (await linesOf({ verb: "deleteProject" })).some(({ object }) => object === `/org/projects/${id}`),
  );
});

describe("only keys with organization", () => {
  // AUDIT-6
  test("read the lines; what a caller gets wrong is named", async () => {
    const without = await keyWith(["pools:read", "vaults:read"]);
    expect((await callAs(without, "GET", "/org/audit")).status).toBe(403);
    const only = await keyWith(["organization"]);
    expect((await callAs(only, "GET", "/org/audit?limit=1")).status).toBe(200);
    for (const wrong of ["result=bad", "since=yesterday", "cursor=1", "cursor=1-1.%7B%7D", "limit=0", "limit=101"]) {
      const answer = await callAs(only, "GET", `/org/audit?${wrong}`);
      expect(answer.status, wrong).toBe(400);
      expect(await answer.json()).toMatchObject({ details: [{ path: wrong.split("=")[0] }] });
    }
  });
});

describe("pages", () => {
  // AUDIT-8
  test("have each line once while others write", async () => {
    const key = await keyWith(["vaults:write"]);
    const make = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index++) await callAs(key, "POST", "/vaults", { name: `p-${newId()}` });
    };
    await make(30);
    const before = (await untilThere({ key_id: key.id }, 30)).map(({ request_id }) => request_id);
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page: Page = await pageOf({ key_id: key.id, limit: "7", ...(cursor && { cursor }) });
      ids.push(...page.lines.flatMap((line) => ("request_id" in line ? line.request_id : [])));
      cursor = page.next;
      await make(2);
    } while (cursor !== undefined);
    expect(ids).toEqual(before);
  });
});
