/**
 * Whether a vault item can be used: computed on every read from its connection and credential (ITEM-9 to ITEM-15).
 *
 *   connection gone                unavailable, connection_not_found: for good, since an item keeps its connection
 *   external credential            unavailable, external_credential
 *   no credential, or an empty one unavailable, no_credential
 *   a value or a TOTP secret       ready
 */
import { isFieldName, totpField } from "../../credentials/credential.ts";

/**
 * The names of a credential's values that are fields and not empty, and whether it has a TOTP secret that gives codes.
 */
export type StoredLogin = { valueNames: readonly string[]; hasTotp: boolean };

/** The source of an item's values, found through its connection. */
export type ItemSource =
  | { is: "connectionGone" }
  | { is: "external" }
  | { is: "noCredential" }
  | { is: "stored"; login: StoredLogin };

type FieldType = "text" | "email" | "password" | "totp";
export type StatusReason = "no_credential" | "connection_not_found" | "external_credential";

export type ItemState =
  | { status: "ready"; fields: Record<string, { type: FieldType }> }
  | { status: "unavailable"; reason: StatusReason };

const fieldType = (name: string): FieldType => {
  const lower = name.toLowerCase();
  if (lower.includes("password") || lower.includes("passwd")) return "password";
  return lower.includes("email") ? "email" : "text";
};

/** The fields that can be filled, by name (ITEM-17 to ITEM-20). */
export const fieldsOf = ({ valueNames, hasTotp }: StoredLogin): Record<string, { type: FieldType }> => {
  const listed = valueNames.filter(isFieldName);
  const fields = listed.map((name): [string, { type: FieldType }] => [name, { type: fieldType(name) }]);
  return Object.fromEntries(hasTotp ? [...fields, [totpField, { type: "totp" }]] : fields);
};

/** The state of an item by the table above. An item is `ready` when at least one field has a value. */
export const itemState = (source: ItemSource): ItemState => {
  if (source.is === "connectionGone") return { status: "unavailable", reason: "connection_not_found" };
  if (source.is === "external") return { status: "unavailable", reason: "external_credential" };
  const fields = source.is === "stored" ? fieldsOf(source.login) : {};
  return Object.keys(fields).length > 0
    ? { status: "ready", fields }
    : { status: "unavailable", reason: "no_credential" };
};
