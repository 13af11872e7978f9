import { createHmac, timingSafeEqual } from "node:crypto";
import type { Request, Response } from "express";

/** `__Host-`: no other host, no plain HTTP but loopback's, no other path can set or read it. */
const name = "__Host-browserpool_login";

const attributes = { httpOnly: true, secure: true, sameSite: "strict", path: "/" } as const;

/** As long as a login link is good, ms. */
const lifetimeMs = 10 * 60 * 1000;

/** Gives the visit to the browser; a new one takes the place of the last. */
export const setVisit = (response: Response, ticket: string): void =>
  void response.cookie(name, ticket, { ...attributes, maxAge: lifetimeMs });

/** Takes it from the browser. */
export const clearVisit = (response: Response): void => void response.clearCookie(name, attributes);

/** The ticket of the visit, "" without one. */
export const visitOf = ({ headers }: Pick<Request, "headers">): string => {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
};

/** Only who has the cookie can make it, and no page of another site can read the form that it stands in. */
export const csrfToken = (ticket: string): string => createHmac("sha256", ticket).update("csrf").digest("base64url");

/** Compared in constant time. */
export const isCsrfToken = (ticket: string, given: string): boolean => {
  const [wanted, got] = [Buffer.from(csrfToken(ticket)), Buffer.from(given)];
  return wanted.length === got.length && timingSafeEqual(wanted, got);
};
