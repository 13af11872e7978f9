/** Callers who show the token of a session in the place of a key. */
import type { Request, Response } from "express";
import { AppError } from "../../platform/base/errors.ts";
import { whenClosed } from "../../platform/net/when-closed.ts";
import type { AppDeps } from "../http/app-deps.ts";
import { failedToken } from "../http/client-address.ts";
import { untilClosed } from "../http/until-closed.ts";
import { type SessionByToken, sessionByToken } from "../sessions/authorize-session.ts";

const one = (value: unknown): string => (typeof value === "string" ? value : "");

/** The token in a request's query. */
export const queryToken = ({ query }: Request): string => one(query.jwt);

/** The session in a request's path, if the token is for it. */
export const authorize = async (
  request: Request,
  token: string,
  { services }: Pick<AppDeps, "services">,
): Promise<SessionByToken> => {
  try {
    return await sessionByToken({ sessionId: one(request.params.session), token }, services);
  } catch (error) {
    throw error instanceof AppError ? failedToken(request, services, error) : error;
  }
};

/** The bounds of a token's holder are those of its session. */
export const callerOf = ({ lease, projectId }: SessionByToken): { keyId: string; projectId: string } => ({
  keyId: `session/${lease.session}`,
  projectId,
});

/** Counts a call of the session's holder until its answer is over. `signal`: aborted when nobody waits for it. */
export const enterCall = (
  response: Response,
  { keyId }: { keyId: string },
  { services, stopping }: Pick<AppDeps, "services" | "stopping">,
): AbortSignal => {
  whenClosed(response, services.callerLimits.enter("key", keyId));
  return untilClosed(response, stopping);
};
