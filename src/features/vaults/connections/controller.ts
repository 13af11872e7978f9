import { deleteSecret, holderOf, liveIn, type ObjectController } from "../../../core/reconcile/object-controller.ts";
import { secretFinalizer } from "../../../platform/kinds/kind.ts";
import { credentialKind } from "../credentials/credential.ts";
import { credentialSource } from "../items/rules/item-source.ts";
import { type AuthConnection, authConnectionKind, loginSecretName } from "./auth-connection.ts";
import { authConnectionStatus } from "./status.ts";

const claimOf = ({ spec }: AuthConnection): string => `${spec.profileName}/${spec.domain.toLowerCase()}`;

/** Keeps the status of auth connections. */
export const connectionController: ObjectController<AuthConnection> = {
  name: "connections",
  kind: authConnectionKind,
  reads: [authConnectionKind, credentialKind],
  finalizer: secretFinalizer,
  release: deleteSecret(loginSecretName),
  statusOf(connection, deps) {
    const holder = holderOf(connection, { kind: authConnectionKind, claimOf }, deps);
    const source = credentialSource(connection, liveIn(connection.metadata.namespace, credentialKind, deps));
    return authConnectionStatus({ connection, holder, source, nowMs: deps.now() });
  },
};
