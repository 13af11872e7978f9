import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureNamespace } from "../../../src/core/bootstrap/system-namespace.ts";
import { type BrowserPool, browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { changeObject } from "../../../src/core/objects/change-object.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createProject, updateProject, updateProjectLimits } from "../../../src/core/projects/change-projects.ts";
import { deleteProject } from "../../../src/core/projects/delete-project.ts";
import { fetchOrganizationLimits, updateOrganizationLimits } from "../../../src/core/projects/organization-limits.ts";
import { type Project, readProject } from "../../../src/core/projects/project-namespace.ts";
import { projectLabel } from "../../../src/platform/kinds/identity.ts";
import { namespaces } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { type OrgParts, startOrg } from "./org-parts.ts";

let org: OrgParts;
beforeAll(async () => {
  org = await startOrg();
});
afterAll(() => org[Symbol.asyncDispose]());

const newName = (): string => `Project ${newId()}`;
const create = (name = newName()) => createProject({ name }, org);
/** The projects with this name, as the API server has them. */
const named = async (name: string): Promise<Project[]> => {
  const { items } = await org.kube.list(namespaces, { labelSelector: projectLabel });
  return items.flatMap((item) => readProject(item) ?? []).filter((project) => project.name === name);
};

const createPool = (namespace: string, name: string) =>
  org.kube.create(browserPoolKind, { metadata: { name, namespace }, spec: { size: 1 } } as BrowserPool);

describe("a new project", () => {
  test("has its own namespace, named by its id, and is found by id and by name", async () => {
    const project = await create();
    expect(project.id).toMatch(/^[a-z][a-z0-9]{23}$/);
    expect(project).toMatchObject({ namespace: project.id, status: "active" });
    expect(org.projects.find(project.id)).toEqual(project);
    expect(org.projects.find(project.name)).toEqual(project);
    const namespace = await org.kube.get(namespaces, { name: project.id });
    expect(namespace?.metadata.labels).toMatchObject({
      "browserpool.dev/project": project.id,
      // Whatever pods another puts there first, it becomes a project (PROJECT-11).
      "browserpool.dev/adopt": "true",
    });
  });

  test("is soon known to other replicas", async () => {
    // Fails by the wait for the other replica.
    const other = await org.replica();
    const project = await create();
    await eventually("the other replica knows it", () => other.projects.find(project.id));
  });

  // PROJECT-2
  test("can't have a name that is taken", async () => {
    const { name } = await create();
    await expect(create(name)).rejects.toMatchObject({ code: "name_taken" });
    expect(await named(name)).toHaveLength(1);
  });

  test("with a name that many ask for at once is left at most once, and the name is usable afterwards", async () => {
    const name = newName();
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map(() => create(name)));
    const made = outcomes.filter(({ status }) => status === "fulfilled").length;
    expect(made).toBeLessThanOrEqual(1);
    expect(await named(name)).toHaveLength(made);
    if (made === 0) await create(name);
    expect(await named(name)).toHaveLength(1);
  });
});

describe("a changed project", () => {
  test("has the new name and status, and a new time of change", async () => {
    const project = await create();
    const name = newName();
    const updated = await updateProject(project.name, { name, status: "archived" }, org);
    expect(updated).toMatchObject({ id: project.id, name, status: "archived", createdAt: project.createdAt });
    expect(Date.parse(updated.updatedAt)).toBeGreaterThanOrEqual(Date.parse(project.createdAt));
    expect(org.projects.find(project.name)).toBeUndefined();
    expect((await updateProject(project.id, { status: "active" }, org)).status).toBe("active");
  });

  test("can't take another project's name, but keeps its own", async () => {
    const [first, second] = [await create(), await create()];
    await expect(updateProject(second.id, { name: first.name }, org)).rejects.toMatchObject({ code: "name_taken" });
    expect(org.projects.find(second.id)?.name).toBe(second.name);
    expect((await updateProject(second.id, { name: second.name }, org)).name).toBe(second.name);
  });

  test("never shares a name with another project that takes it at the same time", async () => {
    const name = newName();
    const pair = [await create(), await create()];
    await Promise.allSettled(pair.map(({ id }) => updateProject(id, { name }, org)));
    expect((await named(name)).length).toBeLessThanOrEqual(1);
  });

  // PROJECT-5
  test("can't be archived when it is the default project", async () => {
    const { defaultProject } = org.config;
    const attempt = updateProject(defaultProject, { status: "archived" }, org);
    await expect(attempt).rejects.toMatchObject({ code: "conflict" });
    expect(org.projects.find(defaultProject)?.status).toBe("active");
  });

  test("must exist", async () => {
    await expect(updateProject("nowhere", {}, org)).rejects.toMatchObject({ code: "project_not_found" });
  });
});

describe("a deleted project", () => {
  // PROJECT-4
  test("is gone, leaves its namespace, and frees its name", async () => {
    const project = await create();
    await deleteProject(project.id, org);
    expect(org.projects.find(project.id)).toBeUndefined();
    await expect(deleteProject(project.id, org)).rejects.toMatchObject({ code: "project_not_found" });
    expect(await org.kube.get(namespaces, { name: project.namespace })).toBeDefined();
    expect((await create(project.name)).id).not.toBe(project.id);
  });

  // PROJECT-4
  test("must be empty: one with browser pools stays, and the error names them", async () => {
    const project = await create();
    await createPool(project.namespace, "busy-pool");
    const attempt = deleteProject(project.id, org);
    await expect(attempt).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("busy-pool") });
    expect(org.projects.find(project.id)?.status).toBe("active");
    await org.kube.delete(browserPoolKind, { name: "busy-pool", namespace: project.namespace });
    await deleteProject(project.id, org);
  });

  test("stays when a pool is created during its deletion", async () => {
    const project = await create();
    const kube = {
      ...org.kube,
      patch: async (...args: Parameters<typeof org.kube.patch>) => {
        const written = await org.kube.patch(...args);
        await createPool(project.namespace, "late-pool").catch(() => undefined);
        return written;
      },
    } as typeof org.kube;
    await expect(deleteProject(project.id, { ...org, kube })).rejects.toMatchObject({ code: "conflict" });
    expect(org.projects.find(project.id)?.status).toBe("active");
  });

  test("can't be the default project", async () => {
    await expect(deleteProject(org.config.defaultProject, org)).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("limits", () => {
  // PROJECT-7
  test("of a project are set, kept when left out, and removed by 0 or null", async () => {
    const { id } = await create();
    await updateProjectLimits(id, { maxConcurrentSessions: 5, maxConcurrentInvocations: 6 }, org);
    await updateProjectLimits(id, { maxConcurrentSessions: 7 }, org);
    expect(org.projects.find(id)).toMatchObject({ maxConcurrentSessions: 7, maxConcurrentInvocations: 6 });
    await updateProjectLimits(id, { maxConcurrentSessions: 0, maxConcurrentInvocations: null }, org);
    const { maxConcurrentSessions, maxConcurrentInvocations } = org.projects.find(id) ?? {};
    expect([maxConcurrentSessions, maxConcurrentInvocations]).toEqual([undefined, undefined]);
  });

  // ORG-8
  test("of all projects have a default that can be set, kept and removed", async () => {
    const total = org.config.limits.pooledSessions + org.config.limits.onDemandSessions;
    const limits = (defaultCap?: number) => ({
      maxConcurrentSessions: total,
      defaultProjectMaxConcurrentSessions: defaultCap,
    });
    expect(await fetchOrganizationLimits(org)).toEqual(limits());
    expect(await updateOrganizationLimits(10, org)).toEqual(limits(10));
    expect(await updateOrganizationLimits(undefined, org)).toEqual(limits(10));
    await expect(updateOrganizationLimits(total + 1, org)).rejects.toMatchObject({ code: "bad_request" });
    expect(await fetchOrganizationLimits(org)).toEqual(limits(10));
    expect(await updateOrganizationLimits(0, org)).toEqual(limits());
    await updateOrganizationLimits(total, org);
    expect(await updateOrganizationLimits(null, org)).toEqual(limits());
  });

  test("of the organization bound the default, also when they were lowered later", async () => {
    await updateOrganizationLimits(10, org);
    const config = { ...org.config, limits: { ...org.config.limits, pooledSessions: 3, onDemandSessions: 1 } };
    const { defaultProjectMaxConcurrentSessions } = await fetchOrganizationLimits({ ...org, config });
    expect(defaultProjectMaxConcurrentSessions).toBe(4);
  });
});

describe("a system namespace", () => {
  test("is made once with its labels, however many replicas start at once", async () => {
    const name = `ensured-${newId()}`;
    await Promise.all([1, 2, 3].map(() => ensureNamespace(org.kube, name, { a: "1" })));
    expect((await org.kube.get(namespaces, { name }))?.metadata.labels).toMatchObject({ a: "1" });
  });

  test("gets missing labels and keeps labels that others set", async () => {
    const name = `ensured-${newId()}`;
    await ensureNamespace(org.kube, name, { a: "theirs" });
    const namespace = await ensureNamespace(org.kube, name, { a: "ours", b: "2" });
    expect(namespace.metadata.labels).toMatchObject({ a: "theirs", b: "2" });
  });
});

test("no change is lost when several replicas write one object at once", async () => {
  const { namespace: name } = await create();
  const annotation = "browserpool.dev/test-count";
  const add = () =>
    changeObject(org.kube, namespaces, { name }, ({ metadata }) => ({
      metadata: { annotations: { [annotation]: String(Number(metadata.annotations?.[annotation] ?? 0) + 1) } },
    }));
  await Promise.all([add(), add(), add()]);
  expect((await org.kube.get(namespaces, { name }))?.metadata.annotations?.[annotation]).toBe("3");
});
