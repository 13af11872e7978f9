import type { ServerResponse } from "node:http";
import { abortWith } from "../../platform/base/abort-with.ts";
import { AppError } from "../../platform/base/errors.ts";
import { whenClosed } from "../../platform/net/when-closed.ts";

/** The reason with which a request's signal is aborted when its caller is gone. */
export const callerGone = (): AppError => new AppError("unavailable", "the caller has hung up");

/** Aborted when the answer is over or its caller is gone, or with one of `sources`. */
export const untilClosed = (response: ServerResponse, ...sources: AbortSignal[]): AbortSignal => {
  const over = new AbortController();
  for (const source of sources) whenClosed(response, abortWith(over, source));
  whenClosed(response, () => over.abort(callerGone()));
  return over.signal;
};
