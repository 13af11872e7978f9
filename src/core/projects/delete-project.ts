import { extensionKind } from "../../features/extensions/extension.ts";
import { profileKind } from "../../features/profiles/profile.ts";
import { proxyKind } from "../../features/proxies/proxy.ts";
import { telemetryDestinationKind } from "../../features/telemetry/destinations/telemetry-destination.ts";
import { authConnectionKind } from "../../features/vaults/connections/auth-connection.ts";
import { credentialKind } from "../../features/vaults/credentials/credential.ts";
import { vaultKind } from "../../features/vaults/vault.ts";
import { AppError } from "../../platform/base/errors.ts";
import { wireId, wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import { namespaces, type ResourceType } from "../../platform/kube/resource-type.ts";
import { browserKind, isOver } from "../model/browsers/browser.ts";
import { browserPoolKind } from "../model/pools/browser-pool.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { cachedProject, isDefaultProject } from "./cached-project.ts";
import { type Project, projectStatusLabel } from "./project-namespace.ts";

/** How many of the remaining objects a message names. */
const namedAtMost = 5;

/** Fetches the objects of a kind that a namespace still has; returns their names for messages. */
type FindLeft = (kube: Kube, namespace: string) => Promise<string[]>;

const leftOf =
  <T extends KubeObject>(
    kind: ResourceType<T>,
    nameOf: (object: T) => string | undefined,
    isLeft: (object: T) => boolean = () => true,
  ): FindLeft =>
  async (kube, namespace) => {
    const { items } = await kube.list(kind, { namespace });
    return items.filter(isLeft).map((object) => nameOf(object) ?? object.metadata.name);
  };

/** The kinds of which an empty project has no object, with their names in messages. */
const contents: readonly [FindLeft, string][] = [
  [leftOf(browserPoolKind, wireName), "browser pools"],
  [leftOf(browserKind, wireName, (browser) => !isOver(browser)), "browsers"],
  [leftOf(vaultKind, wireName), "vaults"],
  [leftOf(authConnectionKind, wireId), "auth connections"],
  [leftOf(credentialKind, wireName), "credentials"],
  [leftOf(profileKind, wireName), "profiles"],
  [leftOf(extensionKind, wireName), "extensions"],
  [leftOf(proxyKind, wireName), "proxies"],
  [leftOf(telemetryDestinationKind, wireName), "telemetry destinations"],
];

/** Asks the API server whether the project is empty. If not, throws `conflict` with the remaining objects. */
const requireEmpty = async (kube: Kube, namespace: string): Promise<void> => {
  for (const [findLeft, what] of contents) {
    const names = await findLeft(kube, namespace);
    if (names.length === 0) continue;
    const named = names.slice(0, namedAtMost).join(", ");
    const more = names.length > namedAtMost ? ` and ${names.length - namedAtMost} more` : "";
    throw new AppError("conflict", `the project is not empty; delete its ${what} first: ${named}${more}`);
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
