/** Who reads which events, and where a reader goes on. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProjectEvent } from "../../../src/features/events/event.ts";
import { eventually } from "../../support/eventually.ts";
import type { EventsReader } from "../../support/project-events.ts";
import { connected, fresh, itemOf } from "../vaults/vault-parts.ts";
import { type EventsParts, startEventsParts } from "./events-parts.ts";

let parts: EventsParts;
beforeAll(async () => {
  parts = await startEventsParts();
});
afterAll(() => parts?.[Symbol.asyncDispose]());

/** Makes a vault, and waits for its event: all that came before has been heard. */
const mark = async (reader: EventsReader, project?: string): Promise<string> => {
  const { body } = await parts.call("POST", "/vaults", { name: fresh("mark") }, project);
  await reader.until("the mark", ({ id }) => id === body.id);
  return body.id;
};
/** Without changes: controllers write a status when they come to it. */
const told = ({ heard }: EventsReader): unknown[][] => heard.filter(({ event }) => event !== "changed").map(brief);
const brief = ({ event, kind, id }: ProjectEvent): unknown[] => (kind === undefined ? [event] : [event, kind, id]);

type Key = { id: string; key: string };
const newKey = async (permissions: string[]): Promise<Key> =>
  (await parts.call("POST", "/org/api_keys", { name: fresh("key"), project_id: parts.projectId, permissions })).body;

// EVENT-1
test("other kinds come with what their routes take, and without their contents", async () => {
  await using reader = await parts.read();
  const vault = (await parts.call("POST", "/vaults", { name: fresh("vault") })).body;
  const { connection, credential, name } = await connected(parts);
  const item = (await parts.call("PUT", `/vaults/${vault.id}/items/shop`, itemOf(connection))).body;
  const config = { host: "proxy.example", port: 8080, username: "me", password: "s3cret" };
  const proxy = (await parts.call("POST", "/proxies", { name: "office", type: "custom", config })).body;
  const profile = (await parts.call("POST", "/profiles", { name: fresh("profile") })).body;
  const destination = (
    await parts.call("POST", "/telemetry/destinations", { name: fresh("sink"), endpoint: "https://otlp.example.com" })
  ).body;
  await parts.call("PATCH", `/proxies/${proxy.id}`, { name: "home" });
  await parts.call("DELETE", `/proxies/${proxy.id}`);
  await parts.call("DELETE", `/vaults/${vault.id}/items/shop`);
  await mark(reader);
  const of = (id: string, event: string) => reader.heard.find((each) => each.id === id && each.event === event);
  const created = { event: "created", timestamp: expect.any(String), eventId: expect.any(String) };
  expect(of(vault.id, "created")).toEqual({ ...created, kind: "vault", id: vault.id, name: vault.name });
  const itemIs = { kind: "vault_item", id: item.id, name: "shop", vault_id: vault.id };
  expect(of(item.id, "created")).toEqual({ ...created, ...itemIs });
  expect(of(item.id, "deleted")).toEqual({ ...created, event: "deleted", ...itemIs });
  expect(of(credential, "created")).toEqual({ ...created, kind: "credential", id: credential, name });
  expect(of(connection, "created")).toEqual({ ...created, kind: "auth_connection", id: connection });
  expect(of(profile.id, "created")).toEqual({ ...created, kind: "profile", id: profile.id, name: profile.name });
  expect(of(destination.id, "created")).toMatchObject({ kind: "telemetry_destination", name: destination.name });
  const ofProxy = reader.heard.filter(({ id }) => id === proxy.id);
  expect(ofProxy.at(0)).toMatchObject({ event: "created", kind: "proxy", name: "office" });
  expect(ofProxy.at(-1)).toMatchObject({ event: "deleted", kind: "proxy", name: "home" });
  expect(JSON.stringify(reader.heard)).not.toContain("s3cret");
});

// EVENT-6
test("nothing of another project is heard", async () => {
  await using own = await parts.read();
  await using theirs = await parts.read({ project: parts.other.projectId });
  const pool = await parts.pool(parts.other.projectId);
  const session = await parts.begin(pool);
  await parts.leases.store.release(pool.uid, session, "retired", "released");
  await theirs.until("its end", ({ event, id }) => event === "deleted" && id === session);
  const foreign = await mark(theirs, parts.other.projectId);
  const ours = await mark(own);
  expect(told(own)).toEqual([["created", "vault", ours]]);
  expect(new Set(theirs.heard.map(({ id }) => id))).toEqual(new Set([pool.id, session, foreign]));
});

describe("a key", () => {
  // EVENT-6
  test("without vaults:read hears nothing of vaults, and no longer once it has lost it", async () => {
    const [narrow, wide] = [await newKey(["pools:read"]), await newKey(["pools:read", "vaults:read"])];
    await using never = await parts.read({ apiKey: narrow.key });
    await using atFirst = await parts.read({ apiKey: wide.key });
    const seen = await mark(atFirst);
    await parts.call("PATCH", `/org/api_keys/${wide.id}`, { permissions: ["pools:read"] });
    await eventually(
      "the key is narrowed",
      () => !parts.services.apiKeys.find(wide.id)?.permissions?.includes("vaults:read"),
    );
    await parts.call("POST", "/vaults", { name: fresh("hidden") });
    const { body } = await parts.call("POST", "/profiles", { name: fresh("shown") });
    for (const reader of [never, atFirst]) await reader.until("the profile", ({ id }) => id === body.id);
    expect(told(never)).toEqual([["created", "profile", body.id]]);
    expect(told(atFirst)).toEqual([
      ["created", "vault", seen],
      ["created", "profile", body.id],
    ]);
  });

  // EVENT-6
  test("that was deleted hears nothing more", async () => {
    const key = await newKey(["pools:read"]);
    await using reader = await parts.read({ apiKey: key.key });
    await using other = await parts.read();
    await parts.call("DELETE", `/org/api_keys/${key.id}`);
    await eventually("the key is gone", () => parts.services.apiKeys.authenticate(key.key) === undefined);
    await parts.call("POST", "/profiles", { name: fresh("late") });
    await mark(other);
    expect(reader.heard).toEqual([]);
  });

  test("without pools:read may not read at all, and HEAD tells the same", async () => {
    const { key } = await newKey(["vaults:read"]);
    await expect(parts.read({ apiKey: key })).rejects.toThrow(/^403: .*pools:read/);
    const url = `${parts.client().baseURL}/events/stream`;
    const head = await fetch(url, { method: "HEAD", headers: { authorization: `Bearer ${parts.apiKey}` } });
    expect([head.status, head.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  });
});

describe("a reader that comes back", () => {
  // EVENT-3
  test("goes on after the event that it has seen, without a gap or a repetition", async () => {
    await using first = await parts.read();
    const ids = [await mark(first), await mark(first), await mark(first)];
    const seen = first.heard.find(({ id }) => id === ids[0])?.eventId ?? "";
    await first[Symbol.asyncDispose]();
    await using witness = await parts.read();
    const between = await mark(witness);
    await using second = await parts.read({ lastEventId: seen, query: "?initial_events=true" });
    await second.until("what came meanwhile", ({ id }) => id === between);
    const last = await mark(second);
    expect(told(second)).toEqual([ids[1], ids[2], between, last].map((id) => ["created", "vault", id]));
  });

  // EVENT-3
  test.each(["", "another-1", "x"])(
    "with an id that is not known (%j) is told so first, and hears what follows",
    async (lastEventId) => {
      await using reader = await parts.read({ lastEventId });
      const id = await mark(reader);
      expect(told(reader)).toEqual([["reset"], ["created", "vault", id]]);
      const [reset] = reader.heard;
      await using again = await parts.read({ lastEventId: reset?.eventId ?? "" });
      await again.until("the vault", (event) => event.id === id);
      expect(told(again)).toEqual([["created", "vault", id]]);
    },
  );
});

describe("with initial_events", () => {
  // EVENT-5
  test("all that is there comes first, as lists show it, the latest session first", async () => {
    const pools = [await parts.pool(), await parts.pool()];
    const sessions: string[] = [];
    for (const pool of pools) sessions.unshift(await parts.begin(pool, fresh("session")));
    await using reader = await parts.read({ query: "?initial_events=true" });
    const synced = await reader.until("the end of it", ({ event }) => event === "synced");
    const [listedPools, listed] = await Promise.all(
      ["/browser_pools?limit=100", "/browsers?limit=100"].map(async (path) => (await parts.call("GET", path)).body),
    );
    expect(listed.map((each: { session_id: string }) => each.session_id)).toEqual(expect.arrayContaining(sessions));
    const idOf = (each: { id?: string; session_id?: string }) => each.session_id ?? each.id;
    const initial = told(reader);
    expect(initial.slice(0, initial.findIndex(([event]) => event === "synced") + 1)).toEqual([
      ...listedPools.map((pool: object) => ["current", "pool", idOf(pool)]),
      ...listed.map((session: object) => ["current", "session", idOf(session)]),
      ["synced"],
    ]);
    const current = reader.heard.filter(({ event }) => event === "current");
    expect(current.every(({ eventId }) => eventId === undefined)).toBe(true);
    expect(current[0]?.object).toEqual(listedPools[0]);
    expect(current.at(-1)?.object).toEqual({
      ...Object.fromEntries(Object.entries(listed.at(-1)).filter(([key]) => !key.endsWith("_url"))),
      usage: { uptime_ms: expect.any(Number) },
    });
    const id = await mark(reader);
    await using again = await parts.read({ lastEventId: synced.eventId ?? "" });
    await again.until("the mark", (event) => event.id === id);
    expect(told(again).filter(([, kind]) => kind === "vault")).toEqual([["created", "vault", id]]);
    expect(told(again)).not.toContainEqual(["synced"]);
  });

  // EVENT-3, EVENT-5
  test("a reader whose id is not known is told so, and has no id to go on from before it has all", async () => {
    await using reader = await parts.read({ lastEventId: "lost", query: "?initial_events=true" });
    await reader.until("the end of it", ({ event }) => event === "synced");
    expect(reader.heard.at(0)).toMatchObject({ event: "reset", eventId: undefined });
    expect(reader.heard.find(({ eventId }) => eventId !== undefined)).toMatchObject({ event: "synced" });
  });

  // EVENT-6
  test.each(["?initial_events=yes", "?initial_events=1"])("%s is refused", async (query) => {
    await expect(parts.read({ query })).rejects.toThrow(/^400: /);
  });
});

describe("a session", () => {
  // EVENT-2
  test("that was never bound is gone without an object", async () => {
    await using reader = await parts.read();
    const pool = await parts.pool();
    const session = await parts.begin(pool);
    const lease = await parts.leases.store.lease(pool.uid, session);
    if (lease) await parts.leases.store.reject(pool.uid, lease, "no_answer");
    const gone = await reader.until("its end", ({ event, id }) => event === "deleted" && id === session);
    expect(gone).not.toHaveProperty("object");
  });
});

// EVENT-4
test("a connection to Redis that broke is told of, and what follows is heard", async () => {
  const pool = await parts.pool();
  await using reader = await parts.read();
  parts.link.cut();
  await reader.until("the reset", ({ event }) => event === "reset");
  const session = await parts.begin(pool);
  await reader.until("a session", ({ id }) => id === session);
});

// EVENT-4
test("leases of a pool that Redis has lost are told of", async () => {
  const pool = await parts.pool();
  await using reader = await parts.read();
  await parts.leases.repairs.establish(pool.uid, 2);
  await reader.until("the reset", ({ event }) => event === "reset");
});
