/** Vaults and their items over HTTP: the rules, states and errors of docs/rules.md. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Project } from "../../../src/core/projects/projects.ts";
import { listedSources } from "../../../src/features/vaults/items/open-item.ts";
import { vaultItemKind } from "../../../src/features/vaults/items/vault-item.ts";
import { projectLabel } from "../../../src/platform/kinds/identity.ts";
import { namespaces, secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { type Answer, connected, fresh, itemOf, startVaultParts, type VaultParts } from "./vault-parts.ts";

let parts: VaultParts;
let vault: string;
beforeAll(async () => {
  parts = await startVaultParts();
  vault = (await parts.client().post<Vault>("/vaults", { body: { name: fresh("vault") } })).id;
});
afterAll(() => parts?.[Symbol.asyncDispose]());

const put = (key: string, body: unknown, project?: string): Promise<Answer> =>
  parts.call("PUT", `/vaults/${vault}/items/${key}`, body, project);
const read = (key: string): Promise<Answer> => parts.call("GET", `/vaults/${vault}/items/${key}`);
const patchConnection = (id: string, body: object): Promise<Answer> =>
  parts.call("PATCH", `/auth/connections/${id}`, body);

type Vault = { id: string; name: string; created_at: string; updated_at: string };

describe("a vault", () => {
  // VAULT-1, VAULT-2, VAULT-5, VAULT-6, VAULT-7
  test("is created once for its name, found by id and name, listed and deleted", async () => {
    const client = parts.client();
    const name = fresh("team");
    const made: Vault = await client.post("/vaults", { body: { name } });
    expect(made).toEqual({ id: made.id, name, created_at: expect.stringMatching(/Z$/), updated_at: made.created_at });
    expect(made.id).toMatch(/^[a-z][a-z0-9]{23}$/);
    expect(await client.post("/vaults", { body: { name } })).toEqual(made);
    for (const idOrName of [made.id, name]) expect(await client.get(`/vaults/${idOrName}`)).toEqual(made);
    for (const query of [`name=${name}`, `query=${name.toUpperCase()}`, `query=${made.id}`])
      expect(await client.get(`/vaults?${query}`)).toEqual([made]);
    await client.delete(`/vaults/${name}`);
    for (const idOrName of [made.id, name]) expect((await parts.call("GET", `/vaults/${idOrName}`)).status).toBe(404);
    const again: Vault = await client.post("/vaults", { body: { name } });
    expect(again.id).not.toBe(made.id);
  });

  // VAULT-2
  test("is created once, however many ask for it at the same time", async () => {
    const name = fresh("race");
    const second = await parts.replica();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? second : parts.call)("POST", "/vaults", { name })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  // VAULT-3
  test.each([{}, { name: "" }, { name: "a b" }, { name: 7 }])("can't be created from %j", async (body) =>
    expect(await parts.call("POST", "/vaults", body)).toMatchObject({ status: 400, body: { code: "bad_request" } }),
  );

  // VAULT-5
  test("is listed in pages", async () => {
    const project = parts.other.projectId;
    for (let i = 0; i < 3; i++) await parts.call("POST", "/vaults", { name: fresh("page") }, project);
    const first = await parts.call("GET", "/vaults?limit=2", undefined, project);
    expect([first.headers.get("x-has-more"), first.headers.get("x-next-offset")]).toEqual(["true", "2"]);
    const last = await parts.call("GET", "/vaults?limit=2&offset=2", undefined, project);
    expect([last.headers.get("x-has-more"), last.headers.get("x-next-offset")]).toEqual(["false", "0"]);
    expect(new Set([...first.body, ...last.body].map(({ id }) => id)).size).toBe(3);
  });

  // VAULT-6, VAULT-7
  test("is deleted with its items, and leaves connections and credentials", async () => {
    const name = fresh("full");
    const { id } = (await parts.call("POST", "/vaults", { name })).body;
    const { connection, credential } = await connected(parts);
    const item = await parts.call("PUT", `/vaults/${name}/items/a`, itemOf(connection));
    expect((await parts.call("DELETE", `/vaults/${id}`)).status).toBe(204);
    const ref = { namespace: parts.namespace, name: item.body.id };
    await eventually("the item is gone", async () => !(await parts.kube.get(vaultItemKind, ref)));
    expect((await parts.call("GET", `/auth/connections/${connection}`)).status).toBe(200);
    expect((await parts.call("GET", `/credentials/${credential}`)).body.has_values).toBe(true);
  });
});

// CONNECTION-19
test("a project with a vault, a connection, a credential or a profile can't be deleted", async () => {
  const { id } = (await parts.call("POST", "/org/projects", { name: fresh("project") })).body;
  const { items } = await parts.kube.list(namespaces, { labelSelector: `${projectLabel}=${id}` });
  parts.controlled.push(...items.map(({ metadata }) => metadata.name));
  const vaultId = (await parts.call("POST", "/vaults", { name: fresh("vault") }, id)).body.id;
  const { connection, credential } = await connected(parts, { user: "x" }, { project: id });
  // The connection has made its profile.
  const [profile] = (await parts.call("GET", "/profiles", undefined, id)).body;
  for (const [path, what] of [
    [`/vaults/${vaultId}`, "vaults"],
    [`/auth/connections/${connection}`, "auth connections"],
    [`/credentials/${credential}`, "credentials"],
    [`/profiles/${profile.id}`, "profiles"],
  ] as const) {
    const refused = await parts.call("DELETE", `/org/projects/${id}`);
    expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
    expect(refused.body.message).toContain(`delete its ${what} first`);
    expect((await parts.call("DELETE", path, undefined, id)).status).toBe(204);
    await eventually(`the project has no ${what}`, async () => {
      const { body } = await parts.call("DELETE", `/org/projects/${id}`);
      return !body?.message?.includes(`its ${what} first`);
    });
  }
  expect((await parts.call("GET", `/org/projects/${id}`)).status).toBe(404);
});

describe("an item", () => {
  // ITEM-1, ITEM-4, ITEM-8, ITEM-17, ITEM-19, ITEM-21, ITEM-22
  test("is created ready, with the fields of its login", async () => {
    const values = { email: "a@b.test", password: "canary", note: "" };
    const { connection } = await connected(parts, values, { totp_secret: "JBSWY3DPEHPK3PXP" });
    const key = fresh("item");
    const { status, body } = await put(key, itemOf(connection, { description: "the shop" }));
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/),
      key,
      type: "credential",
      version: 1,
      spec: { provider: "managed_auth", connection_id: connection, description: "the shop" },
      state: {
        provider: "managed_auth",
        status: "ready",
        fields: { email: { type: "email" }, password: { type: "password" }, totp: { type: "totp" } },
      },
      available_operations: [{ type: "fill", description: expect.stringContaining("fields") }],
      available_expansions: [],
      created_at: expect.stringMatching(/Z$/),
      updated_at: body.created_at,
    });
    expect((await read(key)).body).toEqual(body);
    const { fields, ...state } = body.state;
    const list = await parts.call("GET", `/vaults/${vault}/items?query=${key}`);
    expect(list.body).toEqual([{ ...body, state }]);
    expect(list.headers.get("x-has-more")).toBe("false");
  });

  // ITEM-15, ITEM-17, ITEM-19, ITEM-20, ITEM-24
  test("lists no value under the names of the TOTP secret and its codes, and is not ready by such a value alone", async () => {
    const reserved = { totp: "canary", totp_secret: "canary" };
    const { connection, credential } = await connected(parts, reserved);
    const key = fresh("item");
    expect((await parts.call("GET", `/credentials/${credential}`)).body.has_values).toBe(false);
    expect(await put(key, itemOf(connection))).toMatchObject({ status: 409, body: { code: "no_saved_credential" } });
    const change = (body: object) => parts.call("PATCH", `/credentials/${credential}`, body);
    await change({ values: { username: "alice" } });
    const { body } = await put(key, itemOf(connection));
    expect(body.state.fields).toEqual({ username: { type: "text" } });
    await change({ totp_secret: "JBSWY3DPEHPK3PXP" });
    const withCodes = { username: { type: "text" }, totp: { type: "totp" } };
    expect((await read(key)).body.state.fields).toEqual(withCodes);
    await change({ totp_secret: "", remove_value_keys: ["username"] });
    expect((await read(key)).body.state).toMatchObject({ status: "unavailable", status_reason: "no_credential" });
  });

  // ITEM-28
  test("is the same for the same request, in any order of fields", async () => {
    const { connection } = await connected(parts);
    const key = fresh("item");
    const allowed_origins = ["https://shop.example", "http://127.0.0.1:3000"];
    const made = await put(key, itemOf(connection, { allowed_origins }));
    expect(made.body.spec.allowed_origins).toEqual(allowed_origins);
    const spec = { allowed_origins, connection_id: connection, provider: "managed_auth" };
    expect(await put(key, { spec, type: "credential" })).toMatchObject({ status: 200, body: { id: made.body.id } });
  });

  // ITEM-28, ITEM-35
  test("is one, however many ask for it at once", async () => {
    const { connection } = await connected(parts);
    const key = fresh("race");
    const second = await parts.replica();
    const url = `/vaults/${vault}/items/${key}`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? second : parts.call)("PUT", url, itemOf(connection))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const { items } = await parts.kube.list(vaultItemKind, { namespace: parts.namespace });
    expect(items.filter((item) => (item as unknown as { spec: { key: string } }).spec.key === key)).toHaveLength(1);
    const events = await parts.call("GET", `${url}/events`);
    expect(events.body).toHaveLength(1);
  });

  test("is created once when two ask for one key with different specs at once", async () => {
    const [a, b] = [await connected(parts), await connected(parts)];
    const key = fresh("race");
    const answers = await Promise.all([put(key, itemOf(a.connection)), put(key, itemOf(b.connection))]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  // ITEM-31, ITEM-32
  test("is a new one when it was deleted and created again", async () => {
    const { connection } = await connected(parts);
    const key = fresh("item");
    const first = await put(key, itemOf(connection));
    expect((await parts.call("DELETE", `/vaults/${vault}/items/${key}`)).status).toBe(204);
    expect((await read(key)).status).toBe(404);
    expect((await put(key, itemOf(connection))).body.id).not.toBe(first.body.id);
  });
});

describe("an item's state follows its connection", () => {
  const ready = { status: "ready" };
  const unavailable = (status_reason: string) => ({ status: "unavailable", status_reason, fields: {} });
  const stateOf = async (key: string): Promise<Answer["body"]> => {
    const { body } = await read(key);
    expect(body.available_operations).toHaveLength(body.state.status === "ready" ? 1 : 0);
    const [listed] = (await parts.call("GET", `/vaults/${vault}/items?query=${key}`)).body;
    const { fields, ...state } = body.state;
    expect(listed.state).toEqual(state);
    expect(body.version).toBe(1);
    return body.state;
  };
  const start = async () => {
    const made = await connected(parts);
    const key = fresh("state");
    const { body } = await put(key, itemOf(made.connection));
    expect(body.state).toMatchObject(ready);
    return { ...made, key, id: body.id };
  };

  // ITEM-7, ITEM-9, ITEM-10, ITEM-11, ITEM-14, ITEM-22
  test("ready → no_credential when the credential is deleted → ready after a relink", async () => {
    const { key, id, credential, connection } = await start();
    await parts.call("DELETE", `/credentials/${credential}`);
    expect(await stateOf(key)).toMatchObject(unavailable("no_credential"));
    const { name } = await connected(parts, { email: "x" });
    await patchConnection(connection, { credential: { name } });
    expect(await stateOf(key)).toMatchObject({ ...ready, fields: { email: { type: "email" } } });
    expect((await read(key)).body.id).toBe(id);
  });

  // ITEM-5, ITEM-7, ITEM-11, ITEM-14, ITEM-15
  test("ready → no_credential when it is emptied → ready when values are stored again, without a new version", async () => {
    const { key, credential } = await start();
    await parts.call("PATCH", `/credentials/${credential}`, { remove_value_keys: ["username", "password"] });
    expect(await stateOf(key)).toMatchObject(unavailable("no_credential"));
    await parts.call("PATCH", `/credentials/${credential}`, { values: { user: "" } });
    expect(await stateOf(key)).toMatchObject(unavailable("no_credential"));
    await parts.call("PATCH", `/credentials/${credential}`, { totp_secret: "JBSWY3DPEHPK3PXP" });
    expect(await stateOf(key)).toMatchObject({ ...ready, fields: { totp: { type: "totp" } } });
  });

  // ITEM-7
  test("is listed without a look at its Secret", async () => {
    const { key } = await start();
    const reads: string[] = [];
    const get: typeof parts.kube.get = (type, ref) => {
      if (type.plural === secrets.plural) reads.push(ref.name);
      return parts.kube.get(type, ref);
    };
    const { items } = await parts.kube.list(vaultItemKind, { namespace: parts.namespace });
    const project = { namespace: parts.namespace } as Project;
    const sources = await listedSources(items, project, { kube: { ...parts.kube, get }, secretsKeys: [] });
    const source = sources[items.findIndex(({ spec }) => spec.key === key)];
    expect(source).toMatchObject({ is: "stored", login: { valueNames: ["password", "username"], hasTotp: false } });
    expect(reads).toEqual([]);
  });

  // ITEM-7, ITEM-11
  test("ready → no_credential when the Secret is deleted by hand, which lists don't look at", async () => {
    const { key, credential } = await start();
    await parts.kube.delete(secrets, { namespace: parts.namespace, name: `credential-${credential}` });
    expect((await read(key)).body.state).toMatchObject(unavailable("no_credential"));
  });

  // ITEM-7, ITEM-10, ITEM-13, ITEM-14, CONNECTION-7
  test("ready → external_credential → no_credential → external_credential → ready", async () => {
    const { key, connection, credential, name } = await start();
    const external = { credential: { provider: "p", path: "a/b" } };
    await patchConnection(connection, external);
    expect(await stateOf(key)).toMatchObject(unavailable("external_credential"));
    await parts.call("PATCH", `/credentials/${credential}`, { remove_value_keys: ["username", "password"] });
    await patchConnection(connection, { credential: { name } });
    expect(await stateOf(key)).toMatchObject(unavailable("no_credential"));
    await patchConnection(connection, external);
    expect(await stateOf(key)).toMatchObject(unavailable("external_credential"));
    await parts.call("PATCH", `/credentials/${credential}`, { values: { a: "b" } });
    await patchConnection(connection, { credential: { name } });
    expect(await stateOf(key)).toMatchObject(ready);
  });

  // ITEM-10, ITEM-12, ITEM-23
  test("ready → connection_not_found, for good; a PUT of the same still answers it", async () => {
    const { key, id, connection } = await start();
    await parts.call("DELETE", `/auth/connections/${connection}`);
    expect(await stateOf(key)).toMatchObject(unavailable("connection_not_found"));
    expect(await put(key, itemOf(connection))).toMatchObject({ status: 200, body: { id } });
    expect((await put(fresh("new"), itemOf(connection))).status).toBe(404);
  });

  // CREDENTIAL-13
  test("stays ready when its credential is renamed", async () => {
    const { key, credential, connection } = await start();
    const name = fresh("renamed");
    await parts.call("PATCH", `/credentials/${credential}`, { name });
    expect(await stateOf(key)).toMatchObject(ready);
    expect((await parts.call("GET", `/auth/connections/${connection}`)).body.credential).toEqual({ name });
  });
});

describe("a PUT is refused", () => {
  const emptyConnection = async (more: object = {}): Promise<string> => {
    const request = { domain: "shop.example", profile_name: fresh("profile"), ...more };
    return (await parts.call("POST", "/auth/connections", request)).body.id;
  };
  const refusal = async (connection: string, status: number, code: string): Promise<string> => {
    const key = fresh("refused");
    const answer = await put(key, itemOf(connection));
    expect(answer).toMatchObject({ status, body: { code } });
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect((await read(key)).status).toBe(404);
    return answer.body.message;
  };

  // ITEM-23
  test("for a connection that does not exist", async () => {
    for (const id of ["nothing", "NOT_an-id", "a".repeat(253)])
      expect(await refusal(id, 404, "not_found")).toContain("no auth connection");
  });

  // ITEM-24, ITEM-27
  test("for a connection without a saved credential, or with an empty one", async () => {
    expect(await refusal(await emptyConnection(), 409, "no_saved_credential")).toContain("no saved credential");
    const { connection } = await connected(parts, { username: "" });
    await refusal(connection, 409, "no_saved_credential");
  });

  // ITEM-26, ITEM-27
  test("for a connection whose credential is kept elsewhere", async () => {
    const connection = await emptyConnection({ credential: { provider: "my-1p", auto: true } });
    expect(await refusal(connection, 409, "external_credential_provider")).toContain("external provider");
  });

  // ITEM-25, ITEM-27
  test("for a connection of another project, about which the answer says nothing more", async () => {
    const { connection, name } = await connected(parts, { username: "x" }, { project: parts.other.projectId });
    const message = await refusal(connection, 409, "connection_in_other_project");
    expect(message).toContain("another project");
    for (const secret of [parts.other.projectId, parts.other.namespace, name, "shop.example"])
      expect(message).not.toContain(secret);
  });

  // VAULT-14
  test("for a vault that does not exist, or in another project", async () => {
    const { connection } = await connected(parts);
    const answer = await parts.call("PUT", "/vaults/nothing/items/a", itemOf(connection));
    expect(answer).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(answer.body.message).toContain("vault");
    expect((await put("a", itemOf(connection), parts.other.projectId)).status).toBe(404);
  });

  // ITEM-6, ITEM-29
  test("for a key with another connection, description or origins; the item stays as it is", async () => {
    const [a, b] = [await connected(parts), await connected(parts)];
    const key = fresh("item");
    const made = await put(key, itemOf(a.connection, { description: "one" }));
    for (const other of [
      itemOf(b.connection, { description: "one" }),
      itemOf(a.connection, { description: "two" }),
      itemOf(a.connection),
      itemOf(a.connection, { description: "one", allowed_origins: ["https://a.test"] }),
    ])
      expect(await put(key, other)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect((await read(key)).body).toEqual(made.body);
  });

  // ITEM-2, ITEM-37
  test.each<[string, object]>([
    ["type", { type: "note", spec: { provider: "managed_auth", connection_id: "c" } }],
    ["type", { spec: { provider: "managed_auth", connection_id: "c" } }],
    ["spec", { type: "credential" }],
    ["spec.provider", { type: "credential", spec: { connection_id: "c" } }],
    ["spec.provider", { type: "credential", spec: { provider: "other", connection_id: "c" } }],
    ["spec.connection_id", { type: "credential", spec: { provider: "managed_auth" } }],
    ["spec.connection_id", itemOf("")],
    ["spec.description", itemOf("c", { description: 7 })],
    ["spec.allowed_origins[0]", itemOf("c", { allowed_origins: ["https://a.test/path"] })],
    ["spec.allowed_origins[0]", itemOf("c", { allowed_origins: ["https://a.test:443"] })],
    ["spec.allowed_origins[1]", itemOf("c", { allowed_origins: ["https://a.test", "http://a.test"] })],
    ["spec.allowed_origins[0]", itemOf("c", { allowed_origins: ["*"] })],
    ["spec.allowed_origins", itemOf("c", { allowed_origins: [] })],
  ])("for a bad %s: %j", async (path, body) => {
    const answer = await put(fresh("bad"), body);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: "bad_request", inner_error: { code: "invalid_input" } },
    });
    expect(answer.body.details[0].path).toBe(path);
  });

  // ITEM-3
  test("for an invalid key", async () =>
    expect(await put("a%20b", itemOf("c"))).toMatchObject({ status: 400, body: { details: [{ path: "key" }] } }));
});

describe("an item can't be", () => {
  // ITEM-30
  test("edited, and the answer says what to do instead", async () => {
    const { connection } = await connected(parts);
    const key = fresh("item");
    await put(key, itemOf(connection));
    const url = `/vaults/${vault}/items/${key}`;
    const { status, body } = await parts.call("PATCH", url, { spec: { description: "new" } });
    expect([status, body.code]).toEqual([409, "conflict"]);
    expect(body.message).toContain("credential of its connection");
    expect((await parts.call("PATCH", `/vaults/${vault}/items/nothing`, {})).status).toBe(404);
  });

  // ITEM-32
  test.each(["GET", "PATCH", "DELETE"])(
    "reached by %s from another project, or where it does not exist",
    async (method) => {
      const { connection } = await connected(parts);
      const key = fresh("item");
      await put(key, itemOf(connection));
      const body = method === "PATCH" ? {} : undefined;
      const url = `/vaults/${vault}/items/${key}`;
      expect((await parts.call(method, url, body, parts.other.projectId)).status).toBe(404);
      expect((await parts.call(method, `/vaults/${vault}/items/nothing`, body)).status).toBe(404);
      expect((await read(key)).status).toBe(200);
    },
  );
});

describe("events of an item", () => {
  // ITEM-34, ITEM-35, ITEM-36
  test("show who created it, come after a known one, and wait for the next", async () => {
    const { connection } = await connected(parts);
    const key = fresh("item");
    await put(key, itemOf(connection));
    await put(key, itemOf(connection));
    const url = `/vaults/${vault}/items/${key}/events`;
    const { body: events } = await parts.call("GET", url);
    expect(events).toEqual([
      {
        id: expect.stringMatching(/^\d+-\d+$/),
        time: expect.stringMatching(/Z$/),
        created_at: events[0].time,
        type: "created",
        name: "created",
        actor: { id: expect.stringMatching(/^k/), name: "test" },
        item: key,
      },
    ]);
    expect((await parts.call("GET", `${url}?after=${events[0].id}`)).body).toEqual([]);
    const waiting = parts.call("GET", `${url}?after=${events[0].id}&wait=30`);
    const { items } = await parts.kube.list(vaultItemKind, { namespace: parts.namespace });
    const uid = items.find((item) => (item as unknown as { spec: { key: string } }).spec.key === key)?.metadata.uid;
    await parts.services.itemEvents.append(uid ?? "", {
      type: "fill",
      item: key,
      actor: { id: "k" },
      outcome: "completed",
    });
    expect((await waiting).body).toMatchObject([{ type: "fill", outcome: "completed" }]);
  });

  test.each(["after=x", "wait=31", "wait=-1", "limit=0", "limit=101"])("can't be requested with %s", async (query) =>
    expect((await parts.call("GET", `/vaults/${vault}/items/any/events?${query}`)).status).toBe(400),
  );

  test("of an item that does not exist are 404", async () =>
    expect((await parts.call("GET", `/vaults/${vault}/items/nothing/events`)).status).toBe(404));
});
