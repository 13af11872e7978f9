import { AppError } from "../../../platform/base/errors.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import type { Login } from "../connections/rules/change-login.ts";
import { totpField } from "../credentials/credential.ts";
import type { ReadyItem } from "../items/open-item.ts";
import type { VaultItem } from "../items/vault-item.ts";
import { totpCode } from "../logins/rules/totp.ts";
import type { Binding } from "./fill-result.ts";
import type { FillItem } from "./fill-wire.ts";

/**
 * Returns a function that gives the value of a field, or undefined when the item has none. A TOTP code is made only when it is
 * written.
 */
const sourceOf = ({ values, totpSecret }: Login, field: string): (() => Sensitive) | undefined => {
  if (field === totpField && totpSecret)
    return () => new Sensitive(totpCode(totpSecret.reveal(), Date.now())?.code ?? "");
  const value = values.get(field);
  return value && (() => value);
};

/** The selectors of a request with the values of an item. Throws `field_unavailable` for fields that are not in `state.fields`. */
export const bindingsOf = (item: VaultItem, { fields }: FillItem, { state, login }: ReadyItem): Binding[] => {
  const sources = fields.map(({ field }) => (Object.hasOwn(state.fields, field) ? sourceOf(login, field) : undefined));
  const details = sources.flatMap((value, index) => {
    const message = `item ${item.spec.key} has no such value`;
    return value ? [] : [{ code: "field_unavailable", path: `fields[${index}].field`, message }];
  });
  if (details.length > 0)
    throw new AppError("field_unavailable", details.map(({ path, message }) => `${path}: ${message}`).join("; "), {
      details,
    });
  return fields.flatMap(({ selector }, index) => {
    const value = sources[index];
    return value ? [{ selector, value }] : [];
  });
};
