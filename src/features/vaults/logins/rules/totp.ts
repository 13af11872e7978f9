/** One-time codes of authenticator apps: RFC 6238 with HMAC-SHA1, 6 digits and steps of 30 s (FILL-39). */
import { Secret, TOTP } from "otpauth";

/** Seconds for which a code is valid. */
const periodSeconds = 30;

/** How long a code is the current one, ms. */
export const totpPeriodMs = periodSeconds * 1000;

/** Longest secret, base32 characters: 160 bytes, eight times the length that RFC 4226 recommends. */
const maxLength = 256;

/** Remainders of a base32 text's length modulo eight that no number of bytes gives. */
const impossibleRests = [1, 3, 6];

/**
 * Converts a secret in the form that sites show (any case, spaces, hyphens, padding) to plain base32; undefined when it
 * is no base32. It gives no reason: that would quote the secret.
 */
export const normalizeTotpSecret = (text: string): string | undefined => {
  const base32 = text.replace(/[\s-]/g, "").replace(/=+$/, "").toUpperCase();
  const isBase32 = /^[A-Z2-7]+$/.test(base32) && !impossibleRests.includes(base32.length % 8);
  return isBase32 && base32.length <= maxLength ? base32 : undefined;
};

/** `expiresAtMs`: since the epoch; from then on the next code is valid. */
export type TotpCode = { code: string; expiresAtMs: number };

/**
 * The code at `nowMs`, since the epoch, with its leading zeros; undefined when the secret is no base32. `secret`: in
 * any form that sites show, since a secret that YAML stores was never checked.
 */
export const totpCode = (secret: string, nowMs: number): TotpCode | undefined => {
  const base32 = normalizeTotpSecret(secret);
  if (base32 === undefined) return undefined;
  const totp = new TOTP({ secret: Secret.fromBase32(base32), algorithm: "SHA1", digits: 6, period: periodSeconds });
  return {
    code: totp.generate({ timestamp: nowMs }),
    expiresAtMs: (Math.floor(nowMs / totpPeriodMs) + 1) * totpPeriodMs,
  };
};
