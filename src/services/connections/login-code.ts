/**
 * The ticket with which a person may hand in a login for one connection: 256 random bits, good for ten minutes. Its SHA-256 is
 * kept in a Secret of the connection's own; a fast hash is right for what no dictionary holds.
 *
 *   (none) ──start──► code ──open: the page has it──► visit ──end: the login is in──► used
 *                      ▲ └──────── expired ────────────┘
 *                      └── start: a newer code; what was before is void
 *
 * The code travels in a URL, by whatever way the person got it. So it is good for one exchange: from then on a new secret
 * counts, which only the person's browser has.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "../../errors.ts";
import { hasReason } from "../../kube/kube-error.ts";
import type { Secret } from "../../kube/objects.ts";
import { secrets, typeMeta } from "../../kube/resource-type.ts";
import { type AuthConnection, authConnectionKind, loginSecretName } from "../../resources/auth-connection.ts";
import { changeObject } from "../objects/change-object.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube">;

/** Time for a person to log in, ms. */
const lifetimeMs = 10 * 60 * 1000;

export type LoginCode = { code: string; expiresAtMs: number };

/** What the ticket is now: in a URL, or in a browser. */
type Stage = "code" | "visit";

const digest = (code: string): Buffer => createHash("sha256").update(code).digest();

const refOf = ({ metadata }: AuthConnection): { namespace: string; name: string } => ({
  namespace: metadata.namespace,
  name: loginSecretName(metadata.name),
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const entry = ({ data }: Secret, name: string): string => Buffer.from(data?.[name] ?? "", "base64").toString();

const isGood = (secret: Secret, stage: Stage, ticket: string): boolean => {
  const known = Buffer.from(entry(secret, "sha256"), "hex");
  const given = digest(ticket);
  const isKnown = known.length === given.length && timingSafeEqual(known, given);
  return isKnown && entry(secret, "stage") === stage && Number(entry(secret, "expires-at")) > Date.now();
};

const newTicket = (): string => randomBytes(32).toString("base64url");

const dataOf = (stage: Stage, ticket: string): { stage: string; sha256: string } => ({
  stage: base64(stage),
  sha256: base64(digest(ticket).toString("hex")),
});

/** Makes a new code, which voids what the connection had before. */
export const newLoginCode = async (connection: AuthConnection, { kube }: Deps): Promise<LoginCode> => {
  const code = newTicket();
  const expiresAtMs = Date.now() + lifetimeMs;
  const data = { ...dataOf("code", code), "expires-at": base64(String(expiresAtMs)) };
  const { name, uid } = connection.metadata;
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

/** The same answer for whatever is wrong: who has no good ticket learns nothing about projects and connections. */
export const badTicket = (): AppError =>
  new AppError("forbidden", "this login link is not known, was used, or has expired");

/** Of several that try at once one succeeds; the others throw, as for a ticket that is not good. */
const step = async (
  connection: AuthConnection,
  { stage, ticket, next }: { stage: Stage; ticket: string; next: Record<string, string | null> },
  { kube }: Deps,
): Promise<void> => {
  const done = await changeObject(kube, secrets, refOf(connection), (secret) => {
    if (!isGood(secret, stage, ticket)) throw badTicket();
    return { data: next };
  });
  if (!done) throw badTicket();
};

/** Exchanges a code for the secret of a visit, which is good for what is left of the ten minutes. Throws `forbidden`. */
export const openVisit = async (connection: AuthConnection, code: string, deps: Deps): Promise<string> => {
  const ticket = newTicket();
  await step(connection, { stage: "code", ticket: code, next: dataOf("visit", ticket) }, deps);
  return ticket;
};

/** Throws `forbidden` for a visit that is not good; does not end it. */
export const requireVisit = async (connection: AuthConnection, ticket: string, { kube }: Deps): Promise<void> => {
  const secret = await kube.get(secrets, refOf(connection));
  if (!secret || !isGood(secret, "visit", ticket)) throw badTicket();
};

/** Uses a visit up. Throws `forbidden`. */
export const endVisit = (connection: AuthConnection, ticket: string, deps: Deps): Promise<void> =>
  step(connection, { stage: "visit", ticket, next: { stage: null, sha256: null, "expires-at": null } }, deps);
