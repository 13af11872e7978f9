import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiKeySecretName, newApiKey } from "../../../src/core/api-keys/api-key-secret.ts";
import { deleteApiKey, rotateApiKey, updateApiKey } from "../../../src/core/api-keys/change-api-key.ts";
import { type CreatedApiKey, createApiKey } from "../../../src/core/api-keys/create-api-key.ts";
import { ensureOrganizationKey } from "../../../src/core/bootstrap/initial-key.ts";
import { onlyNamed, permissions } from "../../../src/core/model/permission.ts";
import { createProject, updateProject } from "../../../src/core/projects/change-projects.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { type OrgParts, startOrg } from "../projects/org-parts.ts";

const dayMs = 86_400_000;
let org: OrgParts;
/** Id of the key that makes the keys of this file. */
let maker: string;
beforeAll(async () => {
  org = await startOrg();
  const key = newApiKey();
  await ensureOrganizationKey({ kube: org.kube, namespace: org.config.systemNamespace, key, name: "maker" });
  maker = await eventually("the key is known", () => org.apiKeys.authenticate(key)?.keyId);
});
afterAll(() => org[Symbol.asyncDispose]());

const create = (more: { projectId?: string; daysToExpire?: number } = {}): Promise<CreatedApiKey> =>
  createApiKey({ name: "ci", projectId: more.projectId, daysToExpire: more.daysToExpire, createdBy: maker }, org);
const rotate = (id: string, graceDays: number, daysToExpire?: number | null): Promise<CreatedApiKey> =>
  rotateApiKey(id, { daysToExpire, graceDays, rotatedBy: maker }, org);
const secretOf = (id: string) =>
  org.kube.get(secrets, { name: apiKeySecretName(id), namespace: org.config.systemNamespace });

describe("a new API key", () => {
  // ORG-2
  test("is accepted at once by the replica that made it, and soon by every other replica", async () => {
    const other = await org.replica();
    const { key, record } = await create();
    const principal = {
      keyId: record.id,
      scope: { kind: "organization" },
      permissions: new Set(permissions).difference(new Set(onlyNamed)),
    };
    expect(org.apiKeys.authenticate(key)).toEqual(principal);
    await eventually("the other replica accepts the key", () => other.apiKeys.authenticate(key) !== undefined);
    expect(other.apiKeys.authenticate(key)).toEqual(principal);
  });

  // ORG-7
  test("is not stored in its Secret", async () => {
    const { key, record } = await create();
    const secret = await secretOf(record.id);
    expect(secret).toBeDefined();
    expect(JSON.stringify(secret)).not.toContain(key);
    const decoded = Object.values(secret?.data ?? {}).map((text) => Buffer.from(text, "base64").toString());
    expect(decoded.join()).not.toContain(key.slice(3));
  });

  // AUTH-3, ORG-3
  test("of a project is bound to it", async () => {
    const project = await createProject({ name: `keys ${newApiKey()}` }, org);
    const { key } = await create({ projectId: project.id });
    expect(org.apiKeys.authenticate(key)?.scope).toEqual({ kind: "project", projectId: project.id });
  });

  // ORG-3
  test("needs an active project, given by id", async () => {
    const project = await createProject({ name: `archived ${newApiKey()}` }, org);
    await expect(create({ projectId: "nowhere" })).rejects.toMatchObject({ code: "project_not_found" });
    await expect(create({ projectId: project.name })).rejects.toMatchObject({ code: "project_not_found" });
    await updateProject(project.id, { status: "archived" }, org);
    await expect(create({ projectId: project.id })).rejects.toMatchObject({ code: "project_not_found" });
  });

  // ORG-2, ORG-3
  test("expires after its lifetime", async () => {
    let nowMs = Date.now();
    const other = await org.replica(() => nowMs);
    const { key } = await create({ daysToExpire: 2 });
    await eventually("the other replica knows the key", () => other.apiKeys.authenticate(key) !== undefined);
    nowMs += 2 * dayMs - 60_000;
    expect(other.apiKeys.authenticate(key)).toBeDefined();
    nowMs += 120_000;
    expect(other.apiKeys.authenticate(key)).toBeUndefined();
  });
});

test.each(["", "bp_", newApiKey(), "x".repeat(257), "x".repeat(1_000_000)])("an unknown key is not accepted", (key) => {
  expect(org.apiKeys.authenticate(key)).toBeUndefined();
});

describe("a deleted API key", () => {
  // ORG-2
  test("is refused everywhere; its hash is gone, its record stays", async () => {
    const other = await org.replica();
    const { key, record } = await create();
    await eventually("the other replica accepts the key", () => other.apiKeys.authenticate(key) !== undefined);
    await deleteApiKey(record.id, "another", org);
    expect(org.apiKeys.authenticate(key)).toBeUndefined();
    await eventually("the other replica refuses the key", () => other.apiKeys.authenticate(key) === undefined);
    expect((await secretOf(record.id))?.data ?? {}).toEqual({});
    expect(org.apiKeys.find(record.id)?.deletedAt).toBeDefined();
  });

  test("can't be changed", async () => {
    const { record } = await create();
    await deleteApiKey(record.id, "another", org);
    await expect(deleteApiKey(record.id, "another", org)).rejects.toMatchObject({ code: "not_found" });
    await expect(updateApiKey(record.id, { name: "new", updatedBy: maker }, org)).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(rotate(record.id, 1)).rejects.toMatchObject({ code: "not_found" });
  });

  test("can't have deleted itself", async () => {
    const { key, record } = await create();
    await expect(deleteApiKey(record.id, record.id, org)).rejects.toMatchObject({ code: "conflict" });
    expect(org.apiKeys.authenticate(key)).toBeDefined();
  });
});

test("an id that names no key is never used as the name of a Secret", async () => {
  const kube = { ...org.kube, get: () => Promise.reject(new Error("asked the API server")) };
  for (const id of ["", "../signing-key", "x/../../default/secrets/y"])
    await expect(updateApiKey(id, { name: "new", updatedBy: maker }, { ...org, kube })).rejects.toMatchObject({
      code: "not_found",
    });
});

describe("a rotated API key", () => {
  // ORG-4
  test("passes on its name, project and lifetime, and ends after the grace period", async () => {
    const project = await createProject({ name: `rotation ${newApiKey()}` }, org);
    const old = await create({ projectId: project.id, daysToExpire: 30 });
    const fresh = await rotate(old.record.id, 7);
    expect(fresh.key).not.toBe(old.key);
    expect(fresh.record).toMatchObject({ name: "ci", projectId: project.id, lifetimeDays: 30 });
    expect(org.apiKeys.authenticate(old.key)).toBeDefined();
    expect(org.apiKeys.authenticate(fresh.key)?.keyId).toBe(fresh.record.id);
    const endsInMs = Date.parse(org.apiKeys.find(old.record.id)?.expiresAt ?? "") - Date.now();
    expect(Math.round(endsInMs / dayMs)).toBe(7);
  });

  test("ends at once without a grace period", async () => {
    const old = await create();
    const fresh = await rotate(old.record.id, 0);
    expect(org.apiKeys.authenticate(old.key)).toBeUndefined();
    expect(org.apiKeys.authenticate(fresh.key)).toBeDefined();
  });

  // ORG-4
  test("never gets a longer life by rotation, not even by a second one", async () => {
    const old = await create({ daysToExpire: 3 });
    const { expiresAt } = old.record;
    await rotate(old.record.id, 7);
    expect(org.apiKeys.find(old.record.id)?.expiresAt).toBe(expiresAt);
    await Promise.all([rotate(old.record.id, 0), rotate(old.record.id, 2), rotate(old.record.id, 2)]);
    expect(org.apiKeys.authenticate(old.key)).toBeUndefined();
  });

  test("leaves no new key behind when the old key's end can't be written", async () => {
    const old = await create();
    const known = new Set(org.apiKeys.list().map(({ id }) => id));
    const kube = { ...org.kube, patch: () => Promise.reject(new Error("no patch today")) };
    const rotation = { daysToExpire: undefined, graceDays: 1, rotatedBy: maker };
    await expect(rotateApiKey(old.record.id, rotation, { ...org, kube })).rejects.toThrow("no patch today");
    await eventually("no key is there that was not before", () => org.apiKeys.list().every(({ id }) => known.has(id)));
  });

  test("passes on another lifetime when the request has one", async () => {
    const old = await create({ daysToExpire: 3 });
    expect((await rotate(old.record.id, 1, 10)).record.lifetimeDays).toBe(10);
    expect((await rotate(old.record.id, 1, null)).record.expiresAt).toBeUndefined();
  });
});

describe("a given key of the organization", () => {
  const ensure = (key: string): Promise<boolean> =>
    ensureOrganizationKey({ kube: org.kube, namespace: org.config.systemNamespace, key, name: "test" });

  test("is accepted, however many replicas start at once and however often", async () => {
    const key = newApiKey();
    expect(await Promise.all([ensure(key), ensure(key), ensure(key)])).toEqual([true, true, true]);
    expect(await ensure(key)).toBe(true);
    await eventually("the key is accepted", () => org.apiKeys.authenticate(key) !== undefined);
    expect(org.apiKeys.authenticate(key)?.scope).toEqual({ kind: "organization" });
  });

  test("stays refused after its deletion", async () => {
    const key = newApiKey();
    await ensure(key);
    const id = await eventually("the key is accepted", () => org.apiKeys.authenticate(key)?.keyId);
    await deleteApiKey(id, "another", org);
    expect(await ensure(key)).toBe(false);
    expect(org.apiKeys.authenticate(key)).toBeUndefined();
  });
});
