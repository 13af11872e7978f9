import { acceptedDraft, conditionsOf, type Draft, notSupportedHere } from "../../../core/reconcile/conditions.ts";
import { storesLogin } from "../credentials/credential.ts";
import type { CredentialSource } from "../items/rules/item-source.ts";
import { type AuthConnection, connectionStatus } from "./auth-connection.ts";
import { unsupportedProblems } from "./rules/connection-support.ts";

type ObservedConnection = {
  connection: AuthConnection;
  /** The oldest connection of this profile and domain, which may be the connection itself. */
  holder: AuthConnection;
  source: CredentialSource;
  nowMs: number;
};

const ready = (reason: string, message: string): Draft => ({ type: "Ready", status: true, reason, message });
const notReady = (reason: string, message: string): Draft => ({ type: "Ready", status: false, reason, message });

const hasLogin = (source: CredentialSource): boolean => source.is === "credential" && storesLogin(source.credential);

type Refusal = { reason: string; message: string };

const readyDraft = ({ connection, source }: ObservedConnection): Draft => {
  const linked = connection.spec.credential?.name;
  if (source.is === "external") return ready("ExternalCredential", "an external provider keeps the credential");
  if (hasLogin(source)) return ready("HasCredential", `the credential ${linked} is stored`);
  if (source.is === "credential") return notReady("CredentialEmpty", `the credential ${linked} holds nothing`);
  if (linked !== undefined) return notReady("CredentialNotFound", `there is no credential ${linked}`);
  return connectionStatus(connection) === "AUTHENTICATED"
    ? ready("Authenticated", "a login was collected, and not saved")
    : notReady("NeedsAuth", "nobody has logged in yet, and no credential is linked");
};

const refusalOf = ({ connection, holder }: ObservedConnection): Refusal | undefined => {
  if (holder.metadata.uid !== connection.metadata.uid) {
    const message = `spec.profileName: the connection ${holder.metadata.name} is for this profile and domain`;
    return { reason: "ConnectionExists", message };
  }
  const problems = unsupportedProblems(connection.spec);
  return problems.length > 0 ? notSupportedHere(problems) : undefined;
};

/** The status of a connection, pure. */
export const authConnectionStatus = (observed: ObservedConnection): NonNullable<AuthConnection["status"]> => {
  const { connection, nowMs } = observed;
  const refusal = refusalOf(observed);
  return {
    observedGeneration: connection.metadata.generation ?? 0,
    conditions: conditionsOf(connection, [acceptedDraft(refusal), readyDraft(observed)], nowMs),
    status: connectionStatus(connection),
  };
};
