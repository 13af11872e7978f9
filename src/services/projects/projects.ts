import type { Kube } from "../../kube/client.ts";
import type { Namespace } from "../../kube/objects.ts";
import { startReflector } from "../../kube/reflector.ts";
import { namespaces } from "../../kube/resource-type.ts";
import type { Logger } from "../../log.ts";
import { projectLabel } from "../../resources/identity.ts";
import { type Project, readProject } from "./project-namespace.ts";

export type { Project } from "./project-namespace.ts";

/** The projects of the organization, kept by a watch. Deleted ones are not in it. */
export type Projects = {
  /** By id, else by name. */
  find(idOrName: string): Project | undefined;
  /** Oldest first. */
  list(): Project[];
  /** Takes in a namespace just written. */
  put(namespace: Namespace): void;
};

export type ProjectIndex = { all: Project[]; byId: Map<string, Project>; byName: Map<string, Project> };

const byAge = (a: Project, b: Project): number =>
  a.createdAt === b.createdAt ? (a.namespace < b.namespace ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1;

/** Of two namespaces that claim one id the older one is the project, the other is none; of two with one name the older is found by it. */
export const indexProjects = (items: Namespace[]): ProjectIndex => {
  const index: ProjectIndex = { all: [], byId: new Map(), byName: new Map() };
  for (const project of items.flatMap((item) => readProject(item) ?? []).sort(byAge)) {
    if (index.byId.has(project.id)) continue;
    index.all.push(project);
    index.byId.set(project.id, project);
    if (!index.byName.has(project.name)) index.byName.set(project.name, project);
  }
  return index;
};

/** Starts the watch. Nothing is found before `synced` has resolved; it rejects when `signal` is aborted before. */
export const startProjects = ({
  kube,
  log,
}: {
  kube: Kube;
  log: Logger;
}): Projects & { synced(signal?: AbortSignal): Promise<void>; stop(): Promise<void> } => {
  let index: ProjectIndex | undefined;
  const reflector = startReflector({
    kube,
    type: namespaces,
    labelSelector: projectLabel,
    log,
    onChange: () => {
      index = undefined;
    },
  });
  const current = (): ProjectIndex => {
    index ??= indexProjects(reflector.list());
    return index;
  };
  return {
    find: (idOrName) => current().byId.get(idOrName) ?? current().byName.get(idOrName),
    list: () => [...current().all],
    put: reflector.put,
    synced: reflector.synced,
    stop: reflector.stop,
  };
};
