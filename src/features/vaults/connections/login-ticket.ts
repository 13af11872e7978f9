/**
 * Tickets of hosted logins prove themselves: 32 random bytes, the time until which they are good, and an HMAC over both and over what the
 * ticket is for. Only this service can make one, so a ticket that is missing, malformed, invented, expired, or for another connection
 * or stage is refused without I/O. Whether it was used already is in the connection's Secret (login-code.ts).
 *
 *   base64url of   32 random bytes │ 6 bytes: ms since 1970 │ 16 bytes: HMAC-SHA-256, cut off
 */
import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import { derivedKey } from "../../../core/protocol/derived-key.ts";

/** A code in a URL, or the secret of a visit in a browser. */
export type TicketStage = "code" | "visit";

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
