import { invalidInput } from "../../platform/base/errors.ts";
import type { ApiKeys, Principal } from "./api-keys.ts";
import { msPerDay } from "./create-api-key.ts";

/** The longest life of a key, days: as of `days_to_expire`. */
const mostDays = 3650;

/**
 * The life of a key that expires at this time (RFC 3339), days. Throws `bad_request` for a time that has passed, is too far, or is after
 * the end of the creating key.
 */
export const daysUntil = (
  expiresAt: string,
  { keyId }: Pick<Principal, "keyId">,
  { apiKeys }: { apiKeys: ApiKeys },
): number => {
  const atMs = Date.parse(expiresAt);
  const days = (atMs - Date.now()) / msPerDay;
  const ownEnd = apiKeys.find(keyId)?.expiresAt;
  const refuse = (message: string) => invalidInput([{ path: "expires_at", message }]);
  if (!(days > 0)) throw refuse("must be in the future");
  if (days > mostDays) throw refuse(`must be within ${mostDays} days`);
  if (ownEnd !== undefined && atMs > Date.parse(ownEnd))
    throw refuse(`must not be after the end of the key that makes this one, ${ownEnd}`);
  return days;
};
