/**
 * How often a stored login was tried in vain, so that no account is locked out by this service: after a few tries with the
 * same login nobody types it any more until the credential changes. It is an annotation of the connection, which outlives
 * Redis: the number of tries, and a mark that tells one login from another.
 */
import { createHmac, type KeyObject } from "node:crypto";
import { derivedKey } from "../../../core/protocol/derived-key.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { type AuthConnection, authConnectionKind } from "../connections/auth-connection.ts";
import type { Login } from "../connections/rules/change-login.ts";

const attemptsAnnotation = "browserpool.dev/login-attempts";

/** Tries with one login that no success has followed. Most sites lock after five. */
export const mostAttempts = 3;

/** So short that no password can be found by it: each of very many others has the same one. */
const markLength = 4;

/** Tells a login from the one that was stored before it. */
export const markOf = ({ values }: Login, { metadata }: AuthConnection, signingKey: KeyObject): string => {
  const sorted = [...values].map(([name, value]) => [name, value.reveal()]).sort();
  return createHmac("sha256", derivedKey(signingKey, "login attempts"))
    .update(JSON.stringify([metadata.uid, sorted]))
    .digest("hex")
    .slice(0, markLength);
};

/** Tries so far with the login of this mark. */
export const attemptsOf = ({ metadata }: AuthConnection, mark: string): number => {
  const [of, count] = (metadata.annotations?.[attemptsAnnotation] ?? "").split(":");
  return of === mark ? Number(count) || 0 : 0;
};

/** Notes how many tries there were; 0 after a success. */
export const noteAttempts = async (
  { metadata }: AuthConnection,
  { mark, count }: { mark: string; count: number },
  { kube }: { kube: Kube },
): Promise<void> => {
  const annotations = { [attemptsAnnotation]: count === 0 ? null : `${mark}:${count}` };
  await kube.patch(authConnectionKind, metadata, { metadata: { annotations } });
};
