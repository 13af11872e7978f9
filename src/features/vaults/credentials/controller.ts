import { deleteSecret, holderOf, type ObjectController } from "../../../core/reconcile/object-controller.ts";
import { claimedName } from "../../../platform/kinds/identity.ts";
import { secretFinalizer } from "../../../platform/kinds/kind.ts";
import { type Credential, credentialKind, ownSecretName } from "./credential.ts";
import { credentialStatus } from "./status.ts";

/** Keeps the status of credentials. */
export const credentialController: ObjectController<Credential> = {
  name: "credentials",
  kind: credentialKind,
  reads: [credentialKind],
  finalizer: secretFinalizer,
  release: deleteSecret(ownSecretName),
  statusOf(credential, deps) {
    const holder = holderOf(credential, { kind: credentialKind, claimOf: claimedName }, deps);
    return credentialStatus(credential, { holder, nowMs: deps.now() });
  },
};
