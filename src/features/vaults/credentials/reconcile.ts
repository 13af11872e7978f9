import { deleteOwnSecret } from "../../../core/reconcile/delete-own-secret.ts";
import { withFinalizer } from "../../../core/reconcile/finalizers.ts";
import { holderOf, liveIn, type ObjectDeps, writeStatus } from "../../../core/reconcile/object-deps.ts";
import { secretFinalizer } from "../../../platform/kinds/finalizers.ts";
import { claimedName } from "../../../platform/kinds/identity.ts";
import { refOf } from "../../../platform/kube/objects.ts";
import { credentialKind, ownSecretName } from "./credential.ts";
import { credentialStatus } from "./status.ts";

/** One round for one credential; `key` is `namespace/name`. Safe to repeat at any point. */
export const reconcileCredential = async (key: string, deps: ObjectDeps): Promise<undefined> => {
  const { credentials } = deps.caches;
  const known = credentials.get(refOf(key));
  if (!known) return;
  if (known.metadata.deletionTimestamp) {
    const secret = ownSecretName(known.metadata.name);
    await deleteOwnSecret(credentialKind, { object: known, secret }, deps);
    return;
  }
  deps.lead.check();
  const credential = await withFinalizer(credentialKind, { object: known, finalizer: secretFinalizer }, deps.kube);
  credentials.put(credential);
  const rivals = liveIn(credential.metadata.namespace, credentials);
  const holder = holderOf(credential, rivals, claimedName) ?? credential;
  const status = credentialStatus(credential, { holder, nowMs: deps.now() });
  await writeStatus(credentialKind, { object: credential, status, cache: credentials }, deps);
};
