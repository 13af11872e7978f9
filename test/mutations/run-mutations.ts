import type { Mutation } from "./mutation.ts";
import { type Outcome, textOfOutcome } from "./outcome.ts";
import type { Result } from "./result-tables.ts";
import { createServerSource } from "./servers.ts";
import { copyTree } from "./tree.ts";
import { type Step, tryMutation } from "./try-mutation.ts";

/** `onResult`: is called with each outcome, one call at a time. */
type MutationRun<Tried extends Mutation> = {
  atOnce: number;
  stepsOf: (mutation: Tried) => Step[];
  onResult: (mutation: Tried, outcome: Outcome) => Promise<void>;
  say: (text: string) => void;
  signal: AbortSignal;
};

const durationText = (seconds: number): string =>
  seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;

/**
 * Tries each mutation in a copy of the tree; as many copies as are tried at once. When the signal aborts, it ends with
 * what there is.
 */
export const runMutations = async <Tried extends Mutation>(
  mutations: readonly Tried[],
  { atOnce, stepsOf, onResult, say, signal: stop }: MutationRun<Tried>,
): Promise<Result[]> => {
  const failing = new AbortController();
  const signal = AbortSignal.any([stop, failing.signal]);
  const left = [...mutations];
  const results: Result[] = [];
  const beganMs = performance.now();
  let kept = Promise.resolve();
  await using source = await createServerSource();
  const work = async (): Promise<void> => {
    await using tree = await copyTree();
    await using servers = source.servers();
    for (let mutation = left.shift(); mutation && !signal.aborted; mutation = left.shift()) {
      const tried = mutation;
      const outcome = await tryMutation(tried, { steps: stepsOf(tried), tree, servers, signal });
      if (signal.aborted) return;
      results.push({ mutation: tried, outcome });
      const each = (performance.now() - beganMs) / 1000 / results.length;
      const count = `${results.length} of ${mutations.length}`;
      const rest = durationText(each * (mutations.length - results.length));
      say(`${count}  ${tried.name}  ${textOfOutcome(outcome)}  ${outcome.seconds} s, ${rest} left`);
      kept = kept.then(() => onResult(tried, outcome));
    }
  };
  const working = Array.from({ length: Math.min(atOnce, mutations.length) }, work);
  for (const one of working) one.catch(() => failing.abort());
  // Each removes its copy, and ends its servers.
  await Promise.allSettled(working);
  await Promise.all(working);
  await kept;
  return results;
};
