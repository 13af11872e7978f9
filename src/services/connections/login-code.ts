/**
 * The code with which a person may hand in a login for one connection: 256 random bits, good once and for ten minutes. Its
 * SHA-256 is kept in a Secret of the connection's own; a fast hash is right for what no dictionary holds.
 *
 *   (none) ──start──► waiting ──use──► used
 *                      ▲   └── expired
 *                      └── start: a newer code, the older one is void
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "../../errors.ts";
import { hasReason } from "../../kube/kube-error.ts";
import type { Secret } from "../../kube/objects.ts";
import { secrets, typeMeta } from "../../kube/resource-type.ts";
import { type AuthConnection, authConnectionKind, loginSecretName } from "../../resources/auth-connection.ts";
import { changeObject } from "../change-object.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube">;

/** Time for a person to log in, ms. */
const lifetimeMs = 10 * 60 * 1000;

export type LoginCode = { code: string; expiresAtMs: number };

const digest = (code: string): Buffer => createHash("sha256").update(code).digest();

const refOf = ({ metadata }: AuthConnection): { namespace: string; name: string } => ({
  namespace: metadata.namespace ?? "",
  name: loginSecretName(metadata.name),
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const entry = ({ data }: Secret, name: string): string => Buffer.from(data?.[name] ?? "", "base64").toString();

const isGood = (secret: Secret, code: string, nowMs: number): boolean => {
  const known = Buffer.from(entry(secret, "sha256"), "hex");
  const given = digest(code);
  return known.length === given.length && timingSafeEqual(known, given) && Number(entry(secret, "expires-at")) > nowMs;
};

/** The one answer for whatever is wrong: who has no good code learns nothing about projects and connections. */
export const badLoginCode = (): AppError =>
  new AppError("forbidden", "this login code is not known, was used, or has expired");

/** Makes a new code, which voids the connection's former one. */
export const newLoginCode = async (connection: AuthConnection, { kube }: Deps): Promise<LoginCode> => {
  const code = randomBytes(32).toString("base64url");
  const expiresAtMs = Date.now() + lifetimeMs;
  const data = { sha256: base64(digest(code).toString("hex")), "expires-at": base64(String(expiresAtMs)) };
  const { name, uid = "" } = connection.metadata;
  const ownerReferences = [{ ...typeMeta(authConnectionKind), name, uid }];
  try {
    const metadata = { ...refOf(connection), ownerReferences };
    await kube.create(secrets, { metadata, type: "browserpool.dev/login-code", data });
  } catch (error) {
    if (!hasReason(error, "AlreadyExists")) throw error;
    await kube.patch(secrets, refOf(connection), { data });
  }
  return { code, expiresAtMs };
};

/** Whether a code may be used now; does not use it. */
export const isLoginCode = async (connection: AuthConnection, code: string, { kube }: Deps): Promise<boolean> => {
  const secret = await kube.get(secrets, refOf(connection));
  return secret !== undefined && isGood(secret, code, Date.now());
};

/** Uses a code up. Of several that try at once one succeeds; the others, and a code that is not good, throw `forbidden`. */
export const useLoginCode = async (connection: AuthConnection, code: string, { kube }: Deps): Promise<void> => {
  const used = await changeObject(kube, secrets, refOf(connection), (secret) => {
    if (!isGood(secret, code, Date.now())) throw badLoginCode();
    return { data: { sha256: null, "expires-at": null } };
  });
  if (!used) throw badLoginCode();
};
