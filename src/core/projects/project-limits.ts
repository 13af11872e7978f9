import type { Kube } from "../../platform/kube/client.ts";
import { cachedProject } from "./cached-project.ts";
import { changeProject } from "./change-project.ts";
import { type Project, projectAnnotations } from "./project-namespace.ts";
import type { Projects } from "./projects.ts";

/** 0 and null remove a cap; undefined keeps it. */
type ProjectLimitsUpdate = {
  maxConcurrentSessions?: number | null | undefined;
  maxConcurrentInvocations?: number | null | undefined;
};

/**
 * How many browsers may run in a project at once: its own cap, else the organization's default for projects. Undefined: no cap. The
 * organization's limit applies in any case.
 */
export const projectSessionLimit = (
  project: Pick<Project, "maxConcurrentSessions">,
  organizationDefault: number | undefined,
): number | undefined => project.maxConcurrentSessions ?? organizationDefault;

/** Changes the given caps; running browsers go on. Throws `project_not_found`. */
export const updateProjectLimits = async (
  idOrName: string,
  update: ProjectLimitsUpdate,
  deps: { kube: Kube; projects: Projects },
): Promise<Project> => {
  const project = cachedProject(idOrName, deps);
  const annotations: Record<string, string | null> = {};
  for (const field of ["maxConcurrentSessions", "maxConcurrentInvocations"] as const) {
    const cap = update[field];
    if (cap !== undefined) annotations[projectAnnotations[field]] = cap ? String(cap) : null;
  }
  if (Object.keys(annotations).length === 0) return project;
  return changeProject(project, deps, () => ({ annotations }));
};
