import { AppError } from "../../platform/base/errors.ts";
import type { Project, Projects } from "./projects.ts";

/** The project by id or name, also an archived one. Throws `project_not_found`. */
export const cachedProject = (idOrName: string, { projects }: { projects: Projects }): Project => {
  const project = projects.find(idOrName);
  if (!project) throw new AppError("project_not_found", `no project ${idOrName}`);
  return project;
};

/** What a key is for. */
type KeyScope = { scope: { kind: "organization" } | { kind: "project"; projectId: string } };

/**
 * Like `cachedProject`, but a key of one project gets `forbidden` for every other id or name, even one that does not
 * exist.
 */
export const cachedVisibleProject = (
  idOrName: string,
  { scope }: KeyScope,
  { projects }: { projects: Projects },
): Project => {
  if (scope.kind === "project" && projects.find(idOrName)?.id !== scope.projectId)
    throw new AppError("forbidden", "this API key sees its own project alone");
  return cachedProject(idOrName, { projects });
};

/** True for the project of requests that name none; it can't be archived or deleted. */
export const isDefaultProject = (
  project: Project,
  { projects, config }: { projects: Projects; config: { defaultProject: string } },
): boolean => projects.find(config.defaultProject)?.id === project.id;
