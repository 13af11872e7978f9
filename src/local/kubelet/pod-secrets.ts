import { Sensitive } from "../../platform/base/sensitive.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Pod } from "../../platform/kube/objects.ts";
import { secrets } from "../../platform/kube/resource-type.ts";

/** The values of a pod's variables that come from Secrets, by the names of the variables. */
export type SecretValues = ReadonlyMap<string, Sensitive>;

/**
 * Reads what the variables of a pod's container take from Secrets. Throws an `Error` that names the Secret and the
 * entry when one is missing. A kubelet would wait for it; here a pod's Secrets exist before the pod.
 */
export const readSecretValues = async (
  { metadata: { namespace }, spec }: Pod,
  kube: Pick<Kube, "get">,
): Promise<SecretValues> => {
  const values = new Map<string, Sensitive>();
  for (const { name: variable, valueFrom } of spec?.containers[0]?.env ?? []) {
    const { name = "", key, optional = false } = valueFrom?.secretKeyRef ?? {};
    if (key === undefined) continue;
    const value = (await kube.get(secrets, { namespace, name }))?.data?.[key];
    if (value !== undefined) values.set(variable, new Sensitive(Buffer.from(value, "base64").toString()));
    else if (!optional) throw new Error(`${variable}: there is no Secret ${namespace}/${name} with the entry ${key}`);
  }
  return values;
};
