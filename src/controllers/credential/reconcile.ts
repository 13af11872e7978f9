import { refOf } from "../../kube/objects.ts";
import { credentialKind, ownSecretName } from "../../resources/credential.ts";
import { secretFinalizer } from "../../resources/finalizers.ts";
import { claimedName } from "../../resources/identity.ts";
import { deleteOwnSecret } from "../delete-own-secret.ts";
import { withFinalizer } from "../finalizers.ts";
import { holderOf, liveIn, type ObjectDeps, writeStatus } from "../object-deps.ts";
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
