import type { Pod } from "../../platform/kube/objects.ts";
import type { SecretValues } from "./pod-secrets.ts";

/** The command line and the variables of a pod's one container. */
type PodEnvironment = { args: string[]; env: Record<string, string> };

/**
 * Expands text as a kubelet does: `$(NAME)` becomes the variable's value if there is one, `$$` becomes a plain `$`.
 * `known`: the variables defined before this text.
 */
export const expandVariables = (text: string, known: Record<string, string>): string =>
  text.replace(/\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)/g, (match, name?: string) =>
    name === undefined ? "$" : Object.hasOwn(known, name) ? (known[name] ?? "") : match,
  );

/**
 * `podIp`: the pod's address, since its status has none yet. `secretValues`: of the variables that come from Secrets. Unsupported
 * fields become "". As under a kubelet, an argument could name such a variable; the operator's arguments name none.
 */
export const podEnvironment = ({ metadata, spec }: Pod, podIp: string, secretValues: SecretValues): PodEnvironment => {
  const fields: Record<string, string | undefined> = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace,
    "metadata.uid": metadata.uid,
    "status.podIP": podIp,
  };
  const container = spec?.containers[0];
  const env: Record<string, string> = {};
  for (const { name, value = "", valueFrom } of container?.env ?? []) {
    const path = valueFrom?.fieldRef?.fieldPath;
    if (valueFrom?.secretKeyRef) env[name] = secretValues.get(name)?.reveal() ?? "";
    else env[name] = path === undefined ? expandVariables(value, env) : (fields[path] ?? "");
  }
  return { args: (container?.args ?? []).map((arg) => expandVariables(arg, env)), env };
};
