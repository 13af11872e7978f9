import { createHmac, timingSafeEqual } from "node:crypto";
import type { Request, Response } from "express";

/** `__Host-`: no other host and no other path can set or read the cookie, and plain HTTP only on loopback. */
const name = "__Host-browserpool_login";

const attributes = { httpOnly: true, secure: true, sameSite: "strict", path: "/" } as const;

/** The lifetime of a login link, ms. */
const lifetimeMs = 10 * 60 * 1000;

/** Sets the cookie of a visit; it replaces an earlier one. */
export const setVisit = (response: Response, ticket: string): void =>
  void response.cookie(name, ticket, { ...attributes, maxAge: lifetimeMs });

/** Clears the cookie. */
export const clearVisit = (response: Response): void => void response.clearCookie(name, attributes);

/** The ticket in the cookie, "" without a cookie. */
export const visitOf = ({ headers }: Pick<Request, "headers">): string => {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
};

/** The form's token. It can be made only with the cookie, and a page of another site can't read the form that contains it. */
export const csrfToken = (ticket: string): string => createHmac("sha256", ticket).update("csrf").digest("base64url");

/** Checks a form's token in constant time. */
export const isCsrfToken = (ticket: string, given: string): boolean => {
  const [wanted, got] = [Buffer.from(csrfToken(ticket)), Buffer.from(given)];
  return wanted.length === got.length && timingSafeEqual(wanted, got);
};
