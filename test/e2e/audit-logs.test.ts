/** The audit logs of a real service, as the SDK lists and downloads them. */
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Permission } from "../../src/core/model/permission.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { AuditLogEntry } from "../../src/features/audit-logs/log-entry.ts";
import { eventually } from "../support/eventually.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
beforeAll(async () => {
  stack = await startProject();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

type Key = { id: string; key: string };

const keyWith = (permissions: Permission[], project_id: string | null = stack.project): Promise<Key> =>
  stack
    .call("POST", "/org/api_keys", { name: `k-${newId()}`, project_id, permissions })
    .then((answer) => answer.json() as Promise<Key>);

const callAs = ({ key }: Key, method: string, path: string, body?: unknown): Promise<Response> =>
  stack.call(method, path, body, { authorization: `Bearer ${key}` });

/** The hour around this moment. */
const thisHour = (): { start: string; end: string } => ({
  start: new Date(Date.now() - 1_800_000).toISOString(),
  end: new Date(Date.now() + 1_800_000).toISOString(),
});

/** All entries of a key, page by page. */
const entriesOf = async (key: Key, more: object = {}): Promise<AuditLogEntry[]> => {
  const entries: unknown[] = [];
  const asked = { ...thisHour(), search_user_id: [key.id], limit: 3, ...more };
  for await (const entry of stack.kernel.auditLogs.list(asked)) entries.push(entry);
  return AuditLogEntry.array().parse(entries);
};

const untilThere = (key: Key, count: number): Promise<AuditLogEntry[]> =>
  eventually(`${count} entries of ${key.id}`, async () => {
    const entries = await entriesOf(key);
    return entries.length >= count && entries;
  });

/** Makes five vaults, deletes the first, and is refused once. */
const workAs = async (key: Key): Promise<{ vault: string }> => {
  const vaults: string[] = [];
  for (let index = 0; index < 5; index++) {
    const made = await callAs(key, "POST", "/vaults", { name: `v-${newId()}` });
    vaults.push(((await made.json()) as { id: string }).id);
  }
  const [vault = ""] = vaults;
  expect((await callAs(key, "DELETE", `/vaults/${vault}`)).status).toBe(204);
  expect((await callAs(key, "GET", "/org/limits")).status).toBe(403);
  return { vault };
};

// AUDIT-9
test("the SDK lists what GET /org/audit has, page by page, and finds calls by its filters", async () => {
  const key = await keyWith(["vaults:write"]);
  const { vault } = await workAs(key);
  const all = await untilThere(key, 7);
  // What was refused has no project, and may stand before or behind the last call of the project.
  expect(all.filter(({ status }) => status === 403)).toMatchObject([{ verb: "getOrganizationLimits", project: null }]);
  const entries = all.filter(({ status }) => status < 400);
  expect(entries.map(({ verb }) => verb)).toEqual(["deleteVault", ...Array.from({ length: 5 }, () => "upsertVault")]);
  expect(entries[0]).toEqual({
    ...{ timestamp: expect.any(String), auth_strategy: "api_key", user_id: key.id, email: "", client_ip: "127.0.0.1" },
    ...{ user_agent: "", domain: "", method: "DELETE", path: `/vaults/${vault}`, route: "/vaults/{id_or_name}" },
    ...{ duration_ms: expect.any(Number), status: 204, request_id: expect.any(String), project: stack.project },
    ...{ verb: "deleteVault", result: "done" },
  });
  const lines = await stack.call("GET", `/org/audit?key_id=${key.id}`, undefined, {
    authorization: `Bearer ${stack.organization_key}`,
  });
  const ids = ((await lines.json()) as { request_id: string }[]).map(({ request_id }) => request_id);
  expect(all.map(({ request_id }) => request_id)).toEqual(ids);

  const verbs = async (more: object): Promise<string[]> => (await entriesOf(key, more)).map(({ verb }) => verb);
  expect(await verbs({ method: "delete" })).toEqual(["deleteVault"]);
  expect(await verbs({ exclude_method: ["POST", "GET"] })).toEqual(["deleteVault"]);
  expect(await verbs({ auth_strategy: "other" })).toEqual([]);
  expect(await verbs({ search: vault.toUpperCase(), search_user_id: [] })).toEqual(["deleteVault"]);
  const deletedAt = entries[0]?.timestamp;
  expect(await verbs({ end: deletedAt, method: "DELETE" })).toEqual([]);
  expect(await verbs({ start: deletedAt, exclude_method: ["GET"] })).toEqual(["deleteVault"]);
});

// AUDIT-10
test("the SDK downloads the same as one file, chunk by chunk", async () => {
  const key = await keyWith(["vaults:write"]);
  await workAs(key);
  const entries = await untilThere(key, 7);
  const parts: Uint8Array[] = [];
  const destination = { write: (part: Uint8Array) => ({ bytesWritten: parts.push(part) && part.length }) };
  const asked = { ...thisHour(), search_user_id: [key.id] };
  const result = await stack.kernel.auditLogs.download({ ...asked, limit: 3 }, destination);
  const file = Buffer.concat(parts);
  expect(result).toMatchObject({ bytesWritten: file.length, rows: 7 });
  expect(result.chunks).toBeGreaterThan(2);
  const read = (text: string): unknown[] =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  expect(read(gunzipSync(file).toString())).toEqual(entries);
  const plain = await stack.kernel.auditLogs.exportChunk({ ...asked, format: "jsonl" });
  expect(plain.headers.get("content-type")).toBe("application/x-ndjson");
  expect(read(await plain.text())).toEqual(entries);
});

// AUDIT-9, AUDIT-10
test("only keys with organization read them; what a caller gets wrong is named", async () => {
  const without = await keyWith(["pools:read", "vaults:read"]);
  const only = await keyWith(["organization"], null);
  const hour = new URLSearchParams(thisHour());
  for (const path of ["/audit-logs", "/audit-logs/export/chunk"]) {
    expect((await callAs(without, "GET", `${path}?${hour}`)).status).toBe(403);
    expect((await callAs(only, "GET", `${path}?${hour}&limit=1`)).status).toBe(200);
    for (const [wrong, field, code] of [
      ["start=2026-01-01T00:00:00Z", "end", "bad_request"],
      ["start=yesterday&end=2026-01-01T00:00:00Z", "start", "bad_request"],
      ["start=2026-01-02T00:00:00Z&end=2026-01-02T00:00:00Z", "end", "bad_request"],
      [`${hour}&limit=0`, "limit", "bad_request"],
      [`${hour}&limit=50001`, "limit", "bad_request"],
      [`${hour}&service=api`, "service", "not_supported_here"],
      path === "/audit-logs"
        ? ["start=2026-01-01T00:00:00Z&end=2026-02-02T00:00:00Z", "end", "bad_request"]
        : [`${hour}&format=csv`, "format", "bad_request"],
      [`${hour}&${path === "/audit-logs" ? "page_token" : "cursor"}=1`, undefined, "bad_request"],
    ] as const) {
      const answer = await callAs(only, "GET", `${path}?${wrong}`);
      expect(answer.status, wrong).toBe(400);
      expect(await answer.json()).toMatchObject({ code, ...(field && { details: [{ path: field }] }) });
    }
  }
});

// AUDIT-11
test.each([
  ["POST", ""],
  ["GET", ""],
  ["GET", "/one"],
  ["PATCH", "/one"],
  ["DELETE", "/one"],
  ["POST", "/one/test"],
])("destinations of exports are refused by name, with the way out: %s %s", async (method, place) => {
  const path = `/audit-logs/export/destinations${place}`;
  const body = method === "GET" || method === "DELETE" ? undefined : { type: "s3", bucket: "logs" };
  const key = { id: "", key: stack.organization_key };
  const answer = await callAs(key, method, path, body);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    code: "not_supported_here",
    details: [{ path: "type", message: expect.stringContaining("/audit-logs/export/chunk") }],
  });
  expect((await callAs(await keyWith(["vaults:write"]), method, path, body)).status).toBe(403);
});
