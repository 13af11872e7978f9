import { AppError } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { namespaces } from "../../platform/kube/resource-type.ts";
import { changeObject } from "../objects/change-object.ts";
import { type Project, projectAnnotations, readProject } from "./project-namespace.ts";
import type { Projects } from "./projects.ts";

type ProjectChange = { labels?: Record<string, string | null>; annotations?: Record<string, string | null> };

/**
 * Writes labels and annotations of a project's namespace, and the time of the change. `change` gets the project as the API server
 * has it. Throws `project_not_found` when the project was deleted meanwhile.
 */
export const changeProject = async (
  { id, namespace }: Project,
  { kube, projects }: { kube: Kube; projects: Projects },
  change: (current: Project) => ProjectChange,
): Promise<Project> => {
  const gone = (): AppError => new AppError("project_not_found", `no project ${id}`);
  const written = await changeObject(kube, namespaces, { name: namespace }, (object) => {
    const current = readProject(object);
    if (current?.id !== id) throw gone();
    const { labels = {}, annotations = {} } = change(current);
    const updatedAt = new Date().toISOString();
    return { metadata: { labels, annotations: { ...annotations, [projectAnnotations.updatedAt]: updatedAt } } };
  });
  const project = written && readProject(written);
  if (!project) throw gone();
  projects.put(written);
  return project;
};
