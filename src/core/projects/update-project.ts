import { AppError } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Config } from "../config/config.ts";
import { cachedProject, isDefaultProject } from "./cached-project.ts";
import { changeProject } from "./change-project.ts";
import { requireFreeProjectName } from "./project-name.ts";
import { type Project, projectAnnotations, projectStatusLabel } from "./project-namespace.ts";
import type { Projects } from "./projects.ts";

type ProjectUpdate = { name?: string | undefined; status?: Project["status"] | undefined };

type Deps = { config: Config; kube: Kube; projects: Projects };

const requireAllowed = (project: Project, { name, status }: ProjectUpdate, deps: Deps): void => {
  if (!isDefaultProject(project, deps)) return;
  if (status === "archived") throw new AppError("conflict", "the default project can't be archived");
  const isKnownByName = project.id !== deps.config.defaultProject;
  if (isKnownByName && name !== undefined && name !== project.name)
    throw new AppError("conflict", "the default project is configured by its name, so it can't be renamed");
};

/**
 * Changes the given fields. Throws `project_not_found`, `name_taken`, or `conflict` for changes that the default project does not
 * allow. Requests to an archived project are refused until it is active again.
 */
export const updateProject = async (idOrName: string, update: ProjectUpdate, deps: Deps): Promise<Project> => {
  const project = cachedProject(idOrName, deps);
  const { name, status } = update;
  requireAllowed(project, update, deps);
  const isRenamed = name !== undefined && name !== project.name;
  if (isRenamed) await requireFreeProjectName(deps.kube, name, project.namespace);
  if (!isRenamed && (status === undefined || status === project.status)) return project;

  const updated = await changeProject(project, deps, () => ({
    ...(status && { labels: { [projectStatusLabel]: status } }),
    ...(isRenamed && { annotations: { [projectAnnotations.name]: name } }),
  }));
  if (isRenamed) await confirmName(name, { project, deps });
  return updated;
};

/** Restores the old name and status when another project has taken the new name meanwhile. */
const confirmName = async (name: string, { project, deps }: { project: Project; deps: Deps }): Promise<void> => {
  try {
    await requireFreeProjectName(deps.kube, name, project.namespace);
  } catch (error) {
    await changeProject(project, deps, () => ({
      labels: { [projectStatusLabel]: project.status },
      annotations: { [projectAnnotations.name]: project.name },
    }));
    throw error;
  }
};
