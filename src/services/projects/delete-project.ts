import { AppError } from "../../errors.ts";
import type { Kube } from "../../kube/client.ts";
import { namespaces } from "../../kube/resource-type.ts";
import { authConnectionKind } from "../../resources/auth-connection.ts";
import { type Browser, browserKind, isOver } from "../../resources/browser.ts";
import { browserPoolKind } from "../../resources/browser-pool.ts";
import { credentialKind } from "../../resources/credential.ts";
import { wireName } from "../../resources/identity.ts";
import type { Kind } from "../../resources/kind.ts";
import { vaultKind } from "../../resources/vault.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { cachedProject, isDefaultProject } from "./cached-project.ts";
import { type Project, projectStatusLabel } from "./project-namespace.ts";

/** How many of the remaining objects a message names. */
const namedAtMost = 5;

/** The kinds of which an empty project has no object, with their names in messages. */
const contents: readonly [Kind, string][] = [
  [browserPoolKind, "browser pools"],
  [browserKind, "browsers"],
  [vaultKind, "vaults"],
  [authConnectionKind, "auth connections"],
  [credentialKind, "credentials"],
];

/** Asks the API server whether the project is empty. If not, throws `conflict` with the remaining objects. */
const requireEmpty = async (kube: Kube, namespace: string): Promise<void> => {
  for (const [kind, what] of contents) {
    const { items: all } = await kube.list(kind, { namespace });
    const items = all.filter((object) => kind !== browserKind || !isOver(object as Browser));
    if (items.length === 0) continue;
    const named = items.slice(0, namedAtMost).map(({ metadata, ...object }) => {
      const { spec = {} } = object as { spec?: { name?: string } };
      return wireName({ metadata, spec }) ?? metadata.name;
    });
    const more = items.length > namedAtMost ? ` and ${items.length - namedAtMost} more` : "";
    throw new AppError("conflict", `the project is not empty; delete its ${what} first: ${named.join(", ")}${more}`);
  }
};

/**
 * Deletes an empty project. Its namespace stays, marked as deleted. Its id is never used again; its name is free.
 * Throws `project_not_found`, and `conflict` for the default project or one that is not empty.
 */
export const deleteProject = async (
  idOrName: string,
  { kube, projects, config }: Pick<ServiceDeps, "kube" | "projects" | "config">,
): Promise<void> => {
  const project = cachedProject(idOrName, { projects });
  if (isDefaultProject(project, { projects, config }))
    throw new AppError("conflict", "the default project can't be deleted");
  const mark = async (status: Project["status"] | "deleted"): Promise<void> => {
    const metadata = { labels: { [projectStatusLabel]: status } };
    projects.put(await kube.patch(namespaces, { name: project.namespace }, { metadata }));
  };
  await requireEmpty(kube, project.namespace);
  await mark("deleted");
  try {
    // A pool may have been created meanwhile; from now on no request finds the project.
    await requireEmpty(kube, project.namespace);
  } catch (error) {
    await mark(project.status);
    throw error;
  }
};
