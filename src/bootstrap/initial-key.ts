import type { Kube } from "../kube/client.ts";
import { hasReason } from "../kube/kube-error.ts";
import type { NamespacedRef, Secret } from "../kube/objects.ts";
import { secrets } from "../kube/resource-type.ts";
import type { Logger } from "../log.ts";
import { isUsable, newApiKey } from "../services/api-keys/api-key-secret.ts";
import type { ApiKeys } from "../services/api-keys/api-keys.ts";
import { ensureOrganizationKey } from "./ensure-organization-key.ts";

export type InitialKeyOptions = {
  kube: Kube;
  /** The system namespace. */
  namespace: string;
  /** The Secret that the key is left in; undefined: none is made. */
  secretName: string | undefined;
  apiKeys: Pick<ApiKeys, "list">;
  log: Logger;
};

const dataKey = "api-key";

const keyIn = ({ data }: Secret): string =>
  Buffer.from(data?.[dataKey] ?? "", "base64")
    .toString()
    .trim();

/** Leaves a new key in the Secret, in place of `left`'s; of replicas that do it together one wins, and all get its key. */
const leaveKey = async (ref: NamespacedRef, left: Secret | undefined, kube: Kube): Promise<string> => {
  const key = newApiKey();
  const data = { [dataKey]: Buffer.from(key).toString("base64") };
  const labels = { "browserpool.dev/kind": "initial-key" };
  try {
    if (left) await kube.patch(secrets, ref, { metadata: { resourceVersion: left.metadata.resourceVersion }, data });
    else await kube.create(secrets, { metadata: { ...ref, labels }, type: "Opaque", data });
    return key;
  } catch (error) {
    if (!hasReason(error, "AlreadyExists") && !hasReason(error, "Conflict")) throw error;
  }
  const theirs = await kube.get(secrets, ref);
  if (!theirs) throw new Error(`Secret ${ref.namespace}/${ref.name} vanished while it was being read`);
  return keyIn(theirs);
};

/**
 * Gives an organization that has no usable key its first one, and leaves it in a Secret for the administrator to fetch and
 * delete. The Secret comes first and the key is made from it, so a replica that dies in between, and others that start
 * at the same time, all end up with the one key. `apiKeys` must be synced.
 */
export const leaveInitialKey = async (options: InitialKeyOptions): Promise<void> => {
  const { kube, namespace, secretName, apiKeys, log } = options;
  const hasKey = apiKeys.list().some((key) => key.projectId === undefined && isUsable(key, Date.now()));
  if (secretName === undefined || hasKey) return;
  const ref = { name: secretName, namespace };
  const ensure = (key: string): Promise<boolean> => ensureOrganizationKey({ kube, namespace, key, name: "initial" });
  const left = await kube.get(secrets, ref);
  // A Secret of an earlier time may hold a key that was deleted since.
  if (left && keyIn(left) !== "" && (await ensure(keyIn(left)))) return;
  await ensure(await leaveKey(ref, left, kube));
  log.info(
    { secret: `${namespace}/${secretName}` },
    "made the organization's first API key: fetch it, then delete the Secret",
  );
};
