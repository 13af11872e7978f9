import type { Lead } from "../../platform/kube/leader-election.ts";

/** Resolves when this replica no longer leads. */
export const whenLeadEnds = async ({ signal }: Pick<Lead, "signal">): Promise<void> => {
  const over = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => over.resolve(), { once: true });
  if (signal.aborted) over.resolve();
  await over.promise;
};
