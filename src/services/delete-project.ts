import { AppError } from "../errors.ts";
import type { Kube } from "../kube/client.ts";
import { namespaces } from "../kube/resource-type.ts";
import { type Browser, browserKind, isOver } from "../resources/browser.ts";
import { browserPoolKind } from "../resources/browser-pool.ts";
import { wireName } from "../resources/identity.ts";
import { findProject, isDefaultProject } from "./find-project.ts";
import { type Project, projectStatusLabel } from "./project-namespace.ts";
import type { ServiceDeps } from "./service-deps.ts";

/** How many things that are left a message names. */
const namedAtMost = 5;

/** Throws `conflict`, naming what is left, unless the project is empty. Asks the API server. */
const requireEmpty = async (kube: Kube, namespace: string): Promise<void> => {
  const [pools, browsers] = await Promise.all([
    kube.list(browserPoolKind, { namespace }),
    kube.list(browserKind, { namespace }),
  ]);
  const items = [...pools.items, ...(browsers.items as Browser[]).filter((browser) => !isOver(browser))];
  if (items.length === 0) return;
  const named = items.slice(0, namedAtMost).map((pool) => wireName(pool) ?? pool.metadata.name);
  const more = items.length > namedAtMost ? ` and ${items.length - namedAtMost} more` : "";
  throw new AppError(
    "conflict",
    `the project is not empty; delete its browser pools and browsers first: ${named.join(", ")}${more}`,
  );
};

/**
 * Deletes an empty project. Its namespace stays, marked as deleted; its id is never used again, its name may be.
 * Throws `project_not_found`, and `conflict` for the default project or one that is not empty.
 */
export const deleteProject = async (
  idOrName: string,
  { kube, projects, config }: Pick<ServiceDeps, "kube" | "projects" | "config">,
): Promise<void> => {
  const project = findProject(idOrName, { projects });
  if (isDefaultProject(project, { projects, config }))
    throw new AppError("conflict", "the default project can't be deleted");
  const mark = async (status: Project["status"] | "deleted"): Promise<void> => {
    const metadata = { labels: { [projectStatusLabel]: status } };
    projects.put(await kube.patch(namespaces, { name: project.namespace }, { metadata }));
  };
  await requireEmpty(kube, project.namespace);
  await mark("deleted");
  try {
    // A pool may have been created since; from now on no request finds the project.
    await requireEmpty(kube, project.namespace);
  } catch (error) {
    await mark(project.status);
    throw error;
  }
};
