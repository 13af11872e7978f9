import type { Kube } from "../../platform/kube/client.ts";
import type { Namespace } from "../../platform/kube/objects.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import { fieldManager } from "./adoption.ts";
import { isDeletedProject } from "./project-namespace.ts";

/** Secrets with logins for image registries, of the system namespace: the kubelet reads them beside a browser's pod. */
export type PullSecrets = { namespace: string; names: readonly string[] };

/** The types of Secrets that kubelets take. No other Secret is copied, whatever its name. */
const pullTypes: readonly string[] = ["kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"];

/** One thing that a round does. `what`: the object, for messages. */
export type Step = [what: string, run: () => Promise<void>];

type Deps = { kube: Pick<Kube, "apply" | "get" | "delete">; pullSecrets?: PullSecrets | undefined };

const copy = async (name: string, to: string, from: string, { kube }: Deps): Promise<void> => {
  const source = await kube.get(secrets, { namespace: from, name });
  if (!source) throw new Error(`there is none in namespace ${from}, from where browsers' pull secrets are copied`);
  const { type, data = {} } = source;
  if (type === undefined || !pullTypes.includes(type))
    throw new Error(`that of namespace ${from} has the type ${type}, so it is no pull secret`);
  await kube.apply(secrets, { metadata: { name, namespace: to }, type, data }, { fieldManager });
};

/**
 * What a round does about the pull secrets of a project: it copies each from the system namespace, or deletes the
 * copies of a project that was deleted.
 */
export const pullSecretSteps = (project: Namespace, deps: Deps): Step[] => {
  const { namespace: from = "", names = [] } = deps.pullSecrets ?? {};
  const to = project.metadata.name;
  const isDeleted = isDeletedProject(project);
  return names.map((name) => [
    `Secret ${name}`,
    () => (isDeleted ? deps.kube.delete(secrets, { namespace: to, name }) : copy(name, to, from, deps)),
  ]);
};
