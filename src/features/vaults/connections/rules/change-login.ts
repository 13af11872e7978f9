/** Applies a request to a stored login (CREDENTIAL-7 to CREDENTIAL-10). */
import { type ErrorDetail, invalidInput } from "../../../../platform/base/errors.ts";
import { Sensitive } from "../../../../platform/base/sensitive.ts";
import { isFieldName, maxValues } from "../../credentials/credential.ts";
import type { StoredLogin } from "../../items/rules/item-state.ts";
import { normalizeTotpSecret } from "../../logins/rules/totp.ts";

/** A login with its values by name. */
export type Login = { values: ReadonlyMap<string, Sensitive>; totpSecret: Sensitive | undefined };

export type LoginChange = {
  values?: Record<string, string> | undefined;
  /** Applied before `values`. */
  removeValueKeys?: readonly string[] | undefined;
  /** In the form that sites show. An empty text removes the secret; undefined keeps it. */
  totpSecret?: string | undefined;
};

/** A login without values and without a TOTP secret. */
export const noLogin: Login = { values: new Map(), totpSecret: undefined };

const totpAfter = (before: Sensitive | undefined, given: string | undefined): Sensitive | undefined => {
  if (given === undefined) return before;
  if (given === "") return undefined;
  const base32 = normalizeTotpSecret(given);
  if (base32 === undefined) throw invalidInput([{ path: "totp_secret", message: "is no base32 text" }]);
  return new Sensitive(base32);
};

/**
 * The login after a change. `isStorable`: false for a text that can't be stored as a value. Throws `bad_request`, which
 * names fields, but never their values.
 */
export const changedLogin = (
  before: Login,
  { values = {}, removeValueKeys = [], totpSecret }: LoginChange,
  isStorable: (value: string) => boolean,
): Login => {
  const details: ErrorDetail[] = Object.entries(values).flatMap(([name, value]) =>
    isStorable(value) ? [] : [{ path: `values.${name}`, message: "begins like an encrypted value" }],
  );
  if (details.length > 0) throw invalidInput(details);
  const kept = [...before.values].filter(([name]) => !removeValueKeys.includes(name));
  const given = Object.entries(values).map(([name, value]): [string, Sensitive] => [name, new Sensitive(value)]);
  const after = new Map([...kept, ...given]);
  if (after.size > maxValues)
    throw invalidInput([{ path: "values", message: `${after.size} with those that are stored, at most ${maxValues}` }]);
  return { values: after, totpSecret: totpAfter(before.totpSecret, totpSecret) };
};

/**
 * Which values of a login are fields and not empty, and whether it has a TOTP secret that gives codes (CREDENTIAL-19).
 */
export const shapeOf = ({ values, totpSecret }: Login): StoredLogin => ({
  valueNames: [...values].flatMap(([name, value]) => (value.reveal() !== "" && isFieldName(name) ? [name] : [])),
  hasTotp: totpSecret !== undefined && normalizeTotpSecret(totpSecret.reveal()) !== undefined,
});
