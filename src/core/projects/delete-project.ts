import { AppError } from "../../platform/base/errors.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import { namespaces, type ResourceType } from "../../platform/kube/resource-type.ts";
import type { Config } from "../config/config.ts";
import { type Browser, browserKind, isOver } from "../model/browsers/browser.ts";
import { browserPoolKind } from "../model/pools/browser-pool.ts";
import { cachedProject, isDefaultProject } from "./cached-project.ts";
import { type Project, projectStatusLabel } from "./project-namespace.ts";
import type { Projects } from "./projects.ts";

type Deps = { config: Config; contents: readonly ProjectContents[]; kube: Kube; projects: Projects };

/** How many of the remaining objects a message names. */
const namedAtMost = 5;

/** Objects that an empty project has none of. `what`: they in messages. */
export type ProjectContents = {
  // biome-ignore lint/suspicious/noExplicitAny: of kinds of every shape
  kind: ResourceType<any>;
  what: string;
  /** What a caller knows an object by; left out, its name. */
  nameOf?(object: KubeObject): string;
  /** Left out: each. */
  isLeft?(object: KubeObject): boolean;
};

/** Contents of the core. */
export const coreContents: readonly ProjectContents[] = [
  { kind: browserPoolKind, what: "browser pools" },
  { kind: browserKind, what: "browsers", isLeft: (browser) => !isOver(browser as Browser) },
];

/** The names of the objects that a namespace still has. */
const fetchLeft = async (
  { kind, nameOf, isLeft = () => true }: ProjectContents,
  namespace: string,
  kube: Kube,
): Promise<string[]> => {
  const { items } = await kube.list<KubeObject>(kind, { namespace });
  return items
    .filter(isLeft)
    .map((object) => nameOf?.(object) ?? wireName(object as Parameters<typeof wireName>[0]) ?? object.metadata.name);
};

/** Asks the API server whether the project is empty. If not, throws `conflict` with the remaining objects. */
const requireEmpty = async (namespace: string, { kube, contents }: Pick<Deps, "kube" | "contents">): Promise<void> => {
  for (const part of contents) {
    const { what } = part;
    const names = await fetchLeft(part, namespace, kube);
    if (names.length === 0) continue;
    const named = names.slice(0, namedAtMost).join(", ");
    const more = names.length > namedAtMost ? ` and ${names.length - namedAtMost} more` : "";
    throw new AppError("conflict", `the project is not empty; delete its ${what} first: ${named}${more}`);
  }
};

/**
 * Deletes an empty project. Its namespace stays, marked as deleted. Its id is never used again; its name is free.
 * Throws `project_not_found`, and `conflict` for the default project and for a project that is not empty.
 */
export const deleteProject = async (idOrName: string, { kube, projects, config, contents }: Deps): Promise<void> => {
  const project = cachedProject(idOrName, { projects });
  if (isDefaultProject(project, { projects, config }))
    throw new AppError("conflict", "the default project can't be deleted");
  const mark = async (status: Project["status"] | "deleted"): Promise<void> => {
    const metadata = { labels: { [projectStatusLabel]: status } };
    projects.put(await kube.patch(namespaces, { name: project.namespace }, { metadata }));
  };
  await requireEmpty(project.namespace, { kube, contents });
  await mark("deleted");
  try {
    // A pool may have been created meanwhile; from now on no request finds the project.
    await requireEmpty(project.namespace, { kube, contents });
  } catch (error) {
    await mark(project.status);
    throw error;
  }
};
