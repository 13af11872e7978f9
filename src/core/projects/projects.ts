import type { Logger } from "../../platform/base/log.ts";
import { projectLabel } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Namespace } from "../../platform/kube/objects.ts";
import { startReflector } from "../../platform/kube/reflector.ts";
import { namespaces } from "../../platform/kube/resource-type.ts";
import { type Project, readClosedProject, readLeavingProject, readProject } from "./project-namespace.ts";

export type { Project } from "./project-namespace.ts";

/** The projects of the organization without deleted ones, kept up to date by a watch. */
export type Projects = {
  /** By id, else by name. */
  find(idOrName: string): Project | undefined;
  /** The same among those whose namespace is being deleted; `find` has none of them. */
  findLeaving(idOrName: string): Project | undefined;
  /** The project of this namespace if it has no sessions any more: it is archived, deleted or being deleted. */
  closed(namespace: string): Project | undefined;
  /** Oldest first. */
  list(): Project[];
  /** Puts a namespace that was just written into the copy. */
  put(namespace: Namespace): void;
  /**
   * Calls `listener` with the name of each namespace of a project, now and after each change, until the watch stops.
   */
  listen(listener: (namespace: string) => void): void;
};

type ProjectIndex = { all: Project[]; byId: Map<string, Project>; byName: Map<string, Project> };

const byAge = (a: Project, b: Project): number =>
  a.createdAt === b.createdAt ? (a.namespace < b.namespace ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1;

/**
 * Of two namespaces with one id, only the older is a project. Of two projects with one name, the name finds the older.
 */
export const indexProjects = (items: Namespace[], read = readProject): ProjectIndex => {
  const index: ProjectIndex = { all: [], byId: new Map(), byName: new Map() };
  for (const project of items.flatMap((item) => read(item) ?? []).sort(byAge)) {
    if (index.byId.has(project.id)) continue;
    index.all.push(project);
    index.byId.set(project.id, project);
    if (!index.byName.has(project.name)) index.byName.set(project.name, project);
  }
  return index;
};

/** `setAside`: a namespace that is no caller's: projects are found and listed without it. */
type ProjectsOptions = { kube: Kube; setAside?: string | undefined; log: Logger };

/** Starts the watch. It finds nothing before `synced` has resolved; that rejects if `signal` is aborted first. */
export const startProjects = ({
  kube,
  setAside,
  log,
}: ProjectsOptions): Projects & { synced(signal?: AbortSignal): Promise<void>; stop(): Promise<void> } => {
  let index: ProjectIndex | undefined;
  let leaving: ProjectIndex | undefined;
  const listeners = new Set<(namespace: string) => void>();
  const reflector = startReflector({
    kube,
    type: namespaces,
    labelSelector: projectLabel,
    log,
    onChange: ({ metadata }) => {
      index = undefined;
      leaving = undefined;
      for (const listener of listeners) listener(metadata.name);
    },
  });
  const items = (): Namespace[] => reflector.list().filter(({ metadata }) => metadata.name !== setAside);
  const current = (): ProjectIndex => {
    index ??= indexProjects(items());
    return index;
  };
  const findIn = ({ byId, byName }: ProjectIndex, idOrName: string): Project | undefined =>
    byId.get(idOrName) ?? byName.get(idOrName);
  return {
    find: (idOrName) => findIn(current(), idOrName),
    findLeaving(idOrName) {
      leaving ??= indexProjects(items(), readLeavingProject);
      return findIn(leaving, idOrName);
    },
    closed(name) {
      const namespace = name === setAside ? undefined : reflector.get({ name });
      return namespace && readClosedProject(namespace);
    },
    list: () => [...current().all],
    put: reflector.put,
    listen(listener) {
      listeners.add(listener);
      for (const { metadata } of items()) listener(metadata.name);
    },
    synced: reflector.synced,
    stop: reflector.stop,
  };
};
