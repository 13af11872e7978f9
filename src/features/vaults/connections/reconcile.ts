import { deleteOwnSecret } from "../../../core/reconcile/delete-own-secret.ts";
import { withFinalizer } from "../../../core/reconcile/finalizers.ts";
import { holderOf, liveIn, type ObjectDeps, writeStatus } from "../../../core/reconcile/object-deps.ts";
import { secretFinalizer } from "../../../platform/kinds/finalizers.ts";
import { refOf } from "../../../platform/kube/objects.ts";
import { credentialSource } from "../items/rules/item-source.ts";
import { type AuthConnection, authConnectionKind, loginSecretName } from "./auth-connection.ts";
import { authConnectionStatus } from "./status.ts";

const claimOf = ({ spec }: AuthConnection): string => `${spec.profileName}/${spec.domain.toLowerCase()}`;

/** One round for one connection; `key` is `namespace/name`. Safe to repeat at any point. */
export const reconcileConnection = async (key: string, deps: ObjectDeps): Promise<undefined> => {
  const { connections, credentials } = deps.caches;
  const known = connections.get(refOf(key));
  if (!known) return;
  if (known.metadata.deletionTimestamp) {
    const secret = loginSecretName(known.metadata.name);
    await deleteOwnSecret(authConnectionKind, { object: known, secret }, deps);
    return;
  }
  deps.lead.check();
  const connection = await withFinalizer(authConnectionKind, { object: known, finalizer: secretFinalizer }, deps.kube);
  connections.put(connection);
  const { namespace } = connection.metadata;
  const holder = holderOf(connection, liveIn(namespace, connections), claimOf) ?? connection;
  const source = credentialSource(connection, liveIn(namespace, credentials));
  const status = authConnectionStatus({ connection, holder, source, nowMs: deps.now() });
  await writeStatus(authConnectionKind, { object: connection, status, cache: connections }, deps);
};
