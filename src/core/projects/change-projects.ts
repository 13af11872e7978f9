import { AppError } from "../../platform/base/errors.ts";
import { adoptLabel, projectLabel } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { namespaces } from "../../platform/kube/resource-type.ts";
import type { Config } from "../config/config.ts";
import { changeObject } from "../objects/change-object.ts";
import { newId } from "../objects/new-id.ts";
import { cachedProject, isDefaultProject } from "./cached-project.ts";
import { type Project, projectAnnotations, projectStatusLabel, readProject } from "./project-namespace.ts";
import type { Projects } from "./projects.ts";

// Names of projects are unique, but Kubernetes can't enforce that for an annotation. So each writer checks a name
// before and after it writes: of two writers at least the later one sees the other's name and gives its own up. Two
// writers at exactly the same time may both be refused, but never both keep the name.

/** Throws `name_taken` when a project in another namespace than `ownNamespace` has this name. Asks the API server. */
const requireFreeProjectName = async (kube: Kube, name: string, ownNamespace?: string): Promise<void> => {
  const { items } = await kube.list(namespaces, { labelSelector: projectLabel });
  const others = items.flatMap((item) => readProject(item) ?? []).filter(({ namespace }) => namespace !== ownNamespace);
  if (others.some((other) => other.name === name))
    throw new AppError("name_taken", `another project is named ${JSON.stringify(name)}`);
};

type ProjectChange = { labels?: Record<string, string | null>; annotations?: Record<string, string | null> };

/**
 * Writes labels and annotations of a project's namespace, and the time of the change. `change` gets the project as the
 * API server has it. Throws `project_not_found` when the project was deleted meanwhile.
 */
const changeProject = async (
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
 * Changes the given fields. Throws `project_not_found`, `name_taken`, or `conflict` for changes that the default
 * project does not allow. Requests to an archived project are refused until it is active again.
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

/** 0 and null remove a cap; undefined keeps it. */
type ProjectLimitsUpdate = {
  maxConcurrentSessions?: number | null | undefined;
  maxConcurrentInvocations?: number | null | undefined;
};

/**
 * How many browsers may run in a project at once: its own cap, else the organization's default for projects. Undefined:
 * no cap. The organization's limit applies in any case.
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
