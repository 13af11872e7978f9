import { expect, test } from "vitest";
import { updateProject } from "./change-projects.ts";
import type { Project } from "./project-namespace.ts";

const project = { id: "p-id", name: "main", namespace: "ns", status: "active" } as unknown as Project;

/**
 * What comes of a change of the default project, which is configured by its id or by its name; the cluster is never
 * reached.
 */
const changed = (defaultProject: string, update: Parameters<typeof updateProject>[1]): Promise<unknown> => {
  const reached = () => Promise.reject(new Error("the cluster is asked"));
  const deps = {
    config: { defaultProject },
    projects: { find: (idOrName: string) => ([project.id, project.name].includes(idOrName) ? project : undefined) },
    kube: { list: reached, get: reached, patch: reached },
  };
  return updateProject(project.id, update, deps as never).catch((error: Error) => error.message);
};

// PROJECT-5
test("a default project that is configured by its name keeps it, and one that is configured by its id may get another", async () => {
  expect(await changed("main", { name: "other" })).toContain("can't be renamed");
  expect(await changed("main", { name: "main" })).toBe(project);
  expect(await changed("p-id", { name: "other" })).toBe("the cluster is asked");
});

test("a default project is not archived", async () => {
  for (const by of ["main", "p-id"])
    expect(await changed(by, { status: "archived" })).toBe("the default project can't be archived");
});
