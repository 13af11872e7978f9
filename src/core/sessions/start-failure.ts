/**
 * Requests that wait for a browser end at once when the operator reports that none can be started (FILL-RATE-9): with
 * the reason, and not with the end of their time.
 */

import { abortWith } from "../../platform/base/abort-with.ts";
import { AppError, invalidInput } from "../../platform/base/errors.ts";
import { type Condition, setupRefused, startFailureIn } from "../../platform/kinds/conditions.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";

/**
 * Why no browser can be started, as this condition says: `bad_request` where only another configuration helps, else
 * `browser_not_started`.
 */
export const startFailureError = ({ reason, message }: Condition, whose = ""): AppError =>
  reason === setupRefused
    ? invalidInput([{ code: "setup_refused", path: "extensions", message: `${whose}${message}` }])
    : notStarted(`${whose}${message}`);

/** `browser_not_started`, with the reason. */
export const notStarted = (why: string): AppError =>
  new AppError("browser_not_started", `the browser could not be started: ${why}`, { retryAfterSeconds: 5 });

/** Aborted when none can be started any more; the reason is the error for the caller. `stop` must be called. */
export type StartFailure = { signal: AbortSignal; stop: () => void };

/** Why a caller that waits for a browser of the pool gets none: it has no browser, and none can be started. */
const poolFailure = (pool: BrowserPool): AppError | undefined => {
  const { status } = pool;
  const failure = startFailureIn(status?.conditions);
  // Of an older configuration, or others may come back.
  if (!failure || !status || failure.observedGeneration !== pool.metadata.generation || status.replicas > 0)
    return undefined;
  return startFailureError(failure, `pool ${wireName(pool) ?? pool.metadata.name}: `);
};

/** For a caller that waits for a browser of a pool, until `signal`, which aborts this one too. */
export const startFailureOfPool = (
  { metadata }: BrowserPool,
  { pools }: { pools: WatchedObjects<BrowserPool> },
  signal: AbortSignal,
): StartFailure => {
  const failed = new AbortController();
  const look = (pool: BrowserPool): void => {
    const failure = poolFailure(pool);
    if (failure) failed.abort(failure);
  };
  const [ignore, unfollow] = [pools.listen(metadata.uid, look), abortWith(failed, signal)];
  const stop = (): void => {
    ignore();
    unfollow();
  };
  const known = pools.get(metadata);
  if (known?.metadata.uid === metadata.uid) look(known);
  return { signal: failed.signal, stop };
};
