/**
 * The ticket with which a person may submit a login for one connection, valid for ten minutes (login-code.ts). A Secret
 * of the connection contains its SHA-256; a fast hash is safe for random bits, which no dictionary contains.
 *
 *   (none) ──start──► code ──open: the page has it──► visit ──end: the login is in──► used
 *                      ▲ └──────── expired ────────────┘
 *                      └── start: a newer code; earlier ones are no longer valid
 *
 * The code travels in a URL, which may be sent in any way. So it is valid for one exchange only; after that a new
 * secret counts, which only the person's browser has.
 */
import { createHash, createHmac, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import { changeObject } from "../../../core/objects/change-object.ts";
import { derivedKey } from "../../../core/protocol/derived-key.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { hasReason } from "../../../platform/kube/kube-error.ts";
import type { Secret } from "../../../platform/kube/objects.ts";
import { secrets, typeMeta } from "../../../platform/kube/resource-type.ts";
import { type AuthConnection, authConnectionKind, loginSecretName } from "./auth-connection.ts";

// Tickets of hosted logins prove themselves: 32 random bytes, the time until which they are good, and an HMAC over both
// and over what the ticket is for. Only this service can make one, so a ticket that is missing, malformed, invented,
// expired, or for another connection or stage is refused without I/O. Whether it was used already is in the
// connection's Secret (login-code.ts).
//
//   base64url of   32 random bytes │ 6 bytes: ms since 1970 │ 16 bytes: HMAC-SHA-256, cut off

/** A code in a URL, or the secret of a visit in a browser. */
type TicketStage = "code" | "visit";

/** What a ticket is good for. */
export type TicketUse = { stage: TicketStage; projectId: string; connectionId: string };

const randomLength = 32;
const timeLength = 6;
const bodyLength = randomLength + timeLength;
const proofLength = 16;
const pattern = /^[\w-]{72}$/;

const proof = (body: Buffer, { stage, projectId, connectionId }: TicketUse, signingKey: KeyObject): Buffer =>
  createHmac("sha256", derivedKey(signingKey, "login tickets"))
    .update(JSON.stringify([stage, projectId, connectionId]))
    .update(body)
    .digest()
    .subarray(0, proofLength);

/** Makes a ticket that is good until `untilMs`. */
export const newTicket = (use: TicketUse, untilMs: number, signingKey: KeyObject): string => {
  const body = Buffer.concat([randomBytes(randomLength), Buffer.alloc(timeLength)]);
  body.writeUIntBE(untilMs, randomLength, timeLength);
  return Buffer.concat([body, proof(body, use, signingKey)]).toString("base64url");
};

/** Until when a ticket is good, ms since 1970; undefined when this service did not make it for this use. */
export const readTicket = (ticket: string, use: TicketUse, signingKey: KeyObject): number | undefined => {
  if (!pattern.test(ticket)) return undefined;
  const bytes = Buffer.from(ticket, "base64url");
  const body = bytes.subarray(0, bodyLength);
  const isProved = timingSafeEqual(bytes.subarray(bodyLength), proof(body, use, signingKey));
  return isProved ? body.readUIntBE(randomLength, timeLength) : undefined;
};

type Deps = { kube: Kube; signingKey: KeyObject };

/** Time for a person to log in, ms. */
const lifetimeMs = 10 * 60 * 1000;

type LoginCode = { code: string; expiresAtMs: number };

const digest = (code: string): Buffer => createHash("sha256").update(code).digest();

const refOf = ({ metadata }: AuthConnection): { namespace: string; name: string } => ({
  namespace: metadata.namespace,
  name: loginSecretName(metadata.name),
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const entry = ({ data }: Secret, name: string): string => Buffer.from(data?.[name] ?? "", "base64").toString();

const isGood = (secret: Secret, stage: TicketStage, ticket: string): boolean => {
  const known = Buffer.from(entry(secret, "sha256"), "hex");
  const given = digest(ticket);
  const isKnown = known.length === given.length && timingSafeEqual(known, given);
  return isKnown && entry(secret, "stage") === stage && Number(entry(secret, "expires-at")) > Date.now();
};

const dataOf = (stage: TicketStage, ticket: string): { stage: string; sha256: string } => ({
  stage: base64(stage),
  sha256: base64(digest(ticket).toString("hex")),
});

/** Makes a new code; the connection's earlier code or visit is no longer valid. */
export const newLoginCode = async (
  { connection, use }: { connection: AuthConnection; use: TicketUse & { stage: "code" } },
  { kube, signingKey }: Deps,
): Promise<LoginCode> => {
  const expiresAtMs = Date.now() + lifetimeMs;
  const code = newTicket(use, expiresAtMs, signingKey);
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

/** The same error for every cause: a caller without a valid ticket learns nothing about projects and connections. */
export const badTicket = (): AppError =>
  new AppError("forbidden", "this login link is not known, was used, or has expired");

/**
 * Throws `forbidden` for a ticket that this service did not make for this use, or whose time is over. Does no I/O, so a
 * caller without a ticket costs next to nothing. Returns until when the ticket is good, ms since 1970.
 */
export const requireTicket = (ticket: string, use: TicketUse, { signingKey }: Pick<Deps, "signingKey">): number => {
  const untilMs = readTicket(ticket, use, signingKey);
  if (untilMs === undefined || untilMs <= Date.now()) throw badTicket();
  return untilMs;
};

/**
 * Moves the ticket to its next stage. Of several attempts at once, one succeeds; the others throw as for an invalid
 * ticket.
 */
const step = async (
  connection: AuthConnection,
  { stage, ticket, next }: { stage: TicketStage; ticket: string; next: Record<string, string | null> },
  { kube }: Pick<Deps, "kube">,
): Promise<void> => {
  const done = await changeObject(kube, secrets, refOf(connection), (secret) => {
    if (!isGood(secret, stage, ticket)) throw badTicket();
    return { data: next };
  });
  if (!done) throw badTicket();
};

/**
 * Exchanges a code for the secret of a visit, which is valid for the rest of the ten minutes, until `untilMs`. Throws
 * `forbidden`.
 */
export const openVisit = async (
  connection: AuthConnection,
  { code, use, untilMs }: { code: string; use: TicketUse & { stage: "visit" }; untilMs: number },
  deps: Deps,
): Promise<string> => {
  const ticket = newTicket(use, untilMs, deps.signingKey);
  await step(connection, { stage: "code", ticket: code, next: dataOf("visit", ticket) }, deps);
  return ticket;
};

/** Throws `forbidden` for an invalid visit; does not end a valid one. */
export const requireVisit = async (
  connection: AuthConnection,
  ticket: string,
  { kube }: Pick<Deps, "kube">,
): Promise<void> => {
  const secret = await kube.get(secrets, refOf(connection));
  if (!secret || !isGood(secret, "visit", ticket)) throw badTicket();
};

/** Ends a visit, so that it can't be used again. Throws `forbidden`. */
export const endVisit = (connection: AuthConnection, ticket: string, deps: Pick<Deps, "kube">): Promise<void> =>
  step(connection, { stage: "visit", ticket, next: { stage: null, sha256: null, "expires-at": null } }, deps);
