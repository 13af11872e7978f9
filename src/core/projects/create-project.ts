import { adoptLabel, projectLabel } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { namespaces } from "../../platform/kube/resource-type.ts";
import { newId } from "../objects/new-id.ts";
import { requireFreeProjectName } from "./project-name.ts";
import { type Project, projectAnnotations, projectStatusLabel, readProject } from "./project-namespace.ts";
import type { Projects } from "./projects.ts";

/** Creates an active project with its own namespace. Throws `name_taken`. */
export const createProject = async (
  { name }: { name: string },
  { kube, projects }: { kube: Kube; projects: Projects },
): Promise<Project> => {
  await requireFreeProjectName(kube, name);
  const id = newId();
  const created = await kube.create(namespaces, {
    metadata: {
      name: id,
      // It was made for this alone, whoever is the first to put a pod there.
      labels: { [projectLabel]: id, [projectStatusLabel]: "active", [adoptLabel]: "true" },
      annotations: { [projectAnnotations.name]: name },
    },
  });
  try {
    await requireFreeProjectName(kube, name, id);
  } catch (error) {
    await kube.patch(namespaces, { name: id }, { metadata: { labels: { [projectStatusLabel]: "deleted" } } });
    throw error;
  }
  projects.put(created);
  const project = readProject(created);
  if (!project) throw new Error(`namespace ${id} was created and is no project`);
  return project;
};
