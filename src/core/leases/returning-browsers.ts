/**
 * Browsers that their agents reset after a lease. The replica that ended the lease waits for each of them and offers it
 * as soon as it is up, so that the caller who waits gets it in that moment. When the replica dies meanwhile, an
 * inspection offers it.
 */

import type { Logger } from "../../platform/base/log.ts";
import { awaitWith } from "../../platform/base/retry.ts";
import { retryBriefly } from "../../platform/redis/or-unavailable.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";
import type { AgentAnswer, AgentClient } from "./agent/agent-client.ts";
import { tracedCall } from "./agent/traced-call.ts";
import type { LeaseStore } from "./lease-store.ts";
import { type AnyLease, acquiredIn, requestOf, unauthorized } from "./records.ts";

export type ReturningBrowsers = {
  /** Begins to wait for the browser of an ended lease and returns at once. */
  add(poolUid: string, lease: AnyLease): void;
  /** Waits until all browsers are offered, `withinMs` at most. Inspections offer the rest. */
  drain(withinMs: number): Promise<void>;
};

type ReturnDeps = {
  store: Pick<LeaseStore, "offer" | "suspect">;
  agents: AgentClient;
  /** Left out: nothing is traced. */
  tracer?: Tracer | undefined;
  log: Logger;
};

/**
 * Offers the browser of an ended lease, or makes it suspect, as its agent said. One whose agent did not take this
 * process' token is left to an inspection. Throws `unavailable`.
 */
export const offerOrSuspect = async (
  poolUid: string,
  lease: AnyLease,
  answer: AgentAnswer,
  { store }: Pick<ReturnDeps, "store">,
): Promise<void> => {
  if (answer.kind === "ok") await retryBriefly(() => store.offer(poolUid, lease, answer.state.kept === true));
  else if (answer.kind === "unreachable") await retryBriefly(() => store.suspect(poolUid, lease, "unreachable"));
  else if (answer.code !== unauthorized) await retryBriefly(() => store.suspect(poolUid, lease, answer.code));
};

/** Does nothing before `add`. It keeps one entry for each browser that is being reset. */
export const createReturningBrowsers = (deps: ReturnDeps): ReturningBrowsers => {
  const running = new Set<Promise<void>>();
  const bringBack = async (poolUid: string, lease: AnyLease): Promise<void> => {
    const origin = () => acquiredIn(requestOf(lease));
    const answer = await tracedCall(deps.tracer, { name: "reset", lease, origin }, (asked) =>
      deps.agents.afterReset(lease, asked),
    );
    await offerOrSuspect(poolUid, lease, answer, deps);
  };
  return {
    add(poolUid, lease) {
      const { session, browser } = lease;
      const work = bringBack(poolUid, lease)
        .catch((err: unknown) => deps.log.warn({ err, session, browser }, "a returned browser is left to the audit"))
        .finally(() => running.delete(work));
      running.add(work);
    },
    async drain(withinMs) {
      const deadline = AbortSignal.timeout(withinMs);
      while (running.size > 0 && !deadline.aborted)
        await awaitWith(Promise.all(running), deadline).catch(() => undefined);
    },
  };
};
