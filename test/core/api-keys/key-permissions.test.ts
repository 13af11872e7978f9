/** The permissions of API keys as they are given, changed and passed on. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiKeyAnnotations, apiKeySecretName } from "../../../src/core/api-keys/api-key-secret.ts";
import { onlyNamed, type Permission, permissions } from "../../../src/core/model/permission.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { type Answer, type OrgApi, startOrgApi } from "../projects/org-api.ts";

let api: OrgApi;
beforeAll(async () => {
  api = await startOrgApi();
});
afterAll(() => api[Symbol.asyncDispose]());

type Made = { id: string; key: string; permissions: Permission[] };

const create = (body: object, key?: string): Promise<Answer> =>
  api.call("POST", "/org/api_keys", { body: { name: `k-${newId()}`, ...body }, ...(key && { key }) });
const made = async (list: readonly Permission[] | null): Promise<Made> => {
  const { status, body } = await create({ permissions: list });
  expect(status).toBe(201);
  return body as unknown as Made;
};
const update = (id: string, body: object, key?: string): Promise<Answer> =>
  api.call("PATCH", `/org/api_keys/${id}`, { body, ...(key && { key }) });
const rotate = (id: string, key?: string): Promise<Answer> =>
  api.call("POST", `/org/api_keys/${id}/rotate`, { body: {}, ...(key && { key }) });
const read = async (id: string): Promise<Answer["body"]> => (await api.call("GET", `/org/api_keys/${id}`)).body;

const listKeys = async (): Promise<string[]> => {
  const { body } = await api.call("GET", "/org/api_keys?limit=100");
  return (body as unknown as { id: string }[]).map(({ id }) => id).sort();
};

/** Those of a key without a list. */
const usual = permissions.filter((each) => !onlyNamed.includes(each));

describe("the permissions of a key", () => {
  // AUTH-11
  test("are all of its level when none are given, and shown as such", async () => {
    expect((await create({})).body.permissions).toEqual(usual);
    expect((await create({ permissions: null })).body.permissions).toEqual(usual);
    const { body } = await create({ project_id: api.defaultProject });
    expect(body.permissions).toEqual(usual.filter((each) => each !== "organization"));
  });

  // AUTH-11
  test("are shown on each read, in one order and once", async () => {
    const { id, permissions: answered } = await made(["vaults:fill", "pools:read", "vaults:fill"]);
    expect(answered).toEqual(["pools:read", "vaults:fill"]);
    expect((await read(id)).permissions).toEqual(answered);
    const { body } = await api.call("GET", "/org/api_keys?limit=100");
    expect(body).toContainEqual(expect.objectContaining({ id, permissions: answered }));
  });

  // AUTH-11, HTTP-2
  test.each([[["pools:read", "pools:delete"]], [[]], ["pools:read"], [[7]]])(
    "can't be %j: 400, which lists them",
    async (list) => {
      const { id } = await made(["pools:read"]);
      for (const { status, body } of [await create({ permissions: list }), await update(id, { permissions: list })]) {
        expect(status).toBe(400);
        expect(JSON.stringify(body)).toContain("permissions");
      }
      expect((await read(id)).permissions).toEqual(["pools:read"]);
    },
  );

  test("that don't exist are answered with the list of those that do", async () => {
    const { body } = await create({ permissions: ["root"] });
    for (const each of permissions) expect(body.message).toContain(each);
  });

  // AUTH-11
  test("change by PATCH, count from then on, and can be all of the level again", async () => {
    const { id, key } = await made(["pools:read"]);
    expect((await api.call("GET", "/credentials", { key })).status).toBe(403);
    expect((await update(id, { permissions: ["vaults:read"] })).body.permissions).toEqual(["vaults:read"]);
    expect((await api.call("GET", "/credentials", { key })).status).toBe(200);
    expect((await api.call("GET", "/browser_pools", { key })).status).toBe(403);
    expect((await update(id, { name: "renamed" })).body).toMatchObject({
      name: "renamed",
      permissions: ["vaults:read"],
    });
    expect((await update(id, { permissions: null })).body.permissions).toEqual(usual);
  });

  test("that a PATCH misspells are not taken for nothing to do", async () => {
    const { id } = await made(["pools:read"]);
    expect((await update(id, { permission: ["vaults:read"] })).status).toBe(400);
  });

  // AUTH-11
  test("never include organization for a key of a project", async () => {
    const project_id = api.defaultProject;
    expect((await create({ project_id, permissions: ["organization"] })).status).toBe(400);
    const { body } = await create({ project_id, permissions: ["pools:read"] });
    expect((await update(String(body.id), { permissions: ["organization", "pools:read"] })).status).toBe(400);
    const ref = { name: apiKeySecretName(String(body.id)), namespace: api.systemNamespace };
    const annotations = { [apiKeyAnnotations.permissions]: "organization,pools:write" };
    await api.kube.patch(secrets, ref, { metadata: { annotations } });
    await eventually(
      "the API has seen the change",
      async () => String((await read(ref.name.slice(8))).permissions) === "pools:write",
    );
    expect((await api.call("GET", "/org/api_keys", { key: String(body.key) })).status).toBe(403);
  });

  // AUTH-11
  test("that nobody knows, or none at all, written by hand, allow nothing", async () => {
    const { id, key } = await made(["pools:read"]);
    for (const text of ["", "everything", "pools:read "]) {
      const annotations = { [apiKeyAnnotations.permissions]: text };
      const ref = { name: apiKeySecretName(id), namespace: api.systemNamespace };
      await api.kube.patch(secrets, ref, { metadata: { annotations } });
      await eventually(
        "the key may do nothing",
        async () => (await api.call("GET", "/browser_pools", { key })).status === 403,
      );
    }
  });
});

// PROC-2, AUTH-14
test("what keys have only by name is given by a key of the organization without a list, and passed on by none that lacks it", async () => {
  const named: Permission[] = ["processes:run"];
  const { id, key } = await made(["processes:run", "organization"]);
  expect((await create({ permissions: named }, key)).status).toBe(201);
  const lacking = await made(permissions.filter((each) => each !== "processes:run"));
  for (const list of [named, [...named, "organization"]])
    expect(await create({ permissions: list }, lacking.key)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining("lacks processes:run") },
    });
  expect((await update(id, { permissions: null }, lacking.key)).body.permissions).toEqual(usual);
  const more: Permission[] = [...named, "organization"];
  expect((await update(lacking.id, { permissions: more }, lacking.key)).status).toBe(403);
});

describe("a key that has not all permissions", () => {
  const limited = (): Promise<Made> => made(["organization", "pools:read"]);

  // AUTH-14
  test("can't make a key that may do more, neither by a list nor without one", async () => {
    const { key } = await limited();
    const before = await listKeys();
    for (const body of [
      {},
      { permissions: ["pools:write"] },
      { permissions: ["pools:read", "vaults:fill"] },
      { project_id: api.defaultProject },
    ]) {
      const refused = await create(body, key);
      expect(refused).toMatchObject({ status: 403, body: { code: "forbidden" } });
    }
    expect((await create({ permissions: ["pools:write"] }, key)).body.message).toContain("pools:write");
    expect(await listKeys()).toEqual(before);
    expect((await create({ permissions: ["pools:read"] }, key)).status).toBe(201);
  });

  // AUTH-14
  test("can't add to any key what it lacks, itself included", async () => {
    const { id, key } = await limited();
    const other = await made(["pools:read"]);
    for (const target of [id, other.id])
      for (const list of [null, ["organization", "pools:read", "vaults:fill"]])
        expect((await update(target, { permissions: list }, key)).status).toBe(403);
    expect((await read(id)).permissions).toEqual(["pools:read", "organization"]);
    expect((await read(other.id)).permissions).toEqual(["pools:read"]);
  });

  // AUTH-14
  test("can't rotate a key that may do more, because it would get the new one", async () => {
    const { id, key } = await limited();
    const strong = await made(null);
    const before = await listKeys();
    expect((await rotate(strong.id, key)).status).toBe(403);
    expect(await listKeys()).toEqual(before);
    expect((await read(strong.id)).expires_at).toBeNull();
    const own = await rotate(id, key);
    expect(own).toMatchObject({ status: 201, body: { permissions: ["pools:read", "organization"] } });
  });

  // AUTH-14
  test("can take permissions away, also those that it lacks", async () => {
    const { key } = await limited();
    const strong = await made(["vaults:fill", "vaults:read"]);
    expect((await update(strong.id, { permissions: ["vaults:fill"] }, key)).status).toBe(200);
    expect((await update(strong.id, { permissions: ["vaults:fill", "vaults:read"] }, key)).status).toBe(403);
  });

  // AUTH-14, ORG-5
  test("can't take organization from itself", async () => {
    const { id, key } = await limited();
    expect((await update(id, { permissions: ["pools:read"] }, key)).status).toBe(409);
    expect((await update(id, { permissions: ["organization"] }, key)).status).toBe(200);
  });

  // AUTH-14
  test("can't pass on what it has just lost through a replica that does not know it yet", async () => {
    const { id, key } = await made(null);
    // The API's copy is behind for a moment after a write that it did not make itself.
    const ref = { name: apiKeySecretName(id), namespace: api.systemNamespace };
    const annotations = { [apiKeyAnnotations.permissions]: "organization" };
    const requests = async () => [
      await create({}, key),
      await rotate(id, key),
      await update(id, { permissions: null }, key),
    ];
    await api.kube.patch(secrets, ref, { metadata: { annotations } });
    const [fresh, rotated, raised] = await requests();
    expect(fresh?.status).toBe(403);
    expect(rotated?.body.permissions).toEqual(["organization"]);
    expect(raised?.status).toBe(403);
  });
});
