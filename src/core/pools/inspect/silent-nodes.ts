/**
 * The nodes whose agents don't answer, as inspections see them. Each agent that does not answer takes seconds, and a
 * node that is gone has a hundred of them.
 *
 *   well ──three inspections in a row without an answer──► silent ──an answer──► well
 *
 * Of a silent node few are asked at the same time, until one answers; but for those that somebody waits for, since on
 * the only node of a cluster some agents may be dead and the others well.
 */

/** Inspections in a row without an answer after which a node counts as silent. */
const silentAfter = 3;

/** Agents of a silent node that are asked at the same time. */
const askedAtOnce = 2;

/** What an inspection tells of its node. */
export type NodeAnswer = "answered" | "silent" | "unknown";

type SilentNodes = {
  isSilent(node: string): boolean;
  /** Begins an inspection; false when enough agents of this silent node are being asked, and this one can wait. */
  enter(node: string, canWait: boolean): boolean;
  /** Ends it. True when it is the first answer of a node that was silent. */
  leave(node: string, answer: NodeAnswer): boolean;
};

/**
 * All nodes count as well. A node is forgotten when it answers, so that what is kept is bounded by the nodes that
 * don't.
 */
export const createSilentNodes = (): SilentNodes => {
  const unanswered = new Map<string, number>();
  const asking = new Map<string, number>();
  const isSilent = (node: string): boolean => (unanswered.get(node) ?? 0) >= silentAfter;
  return {
    isSilent,
    enter(node, canWait) {
      const count = asking.get(node) ?? 0;
      if (canWait && isSilent(node) && count >= askedAtOnce) return false;
      asking.set(node, count + 1);
      return true;
    },
    leave(node, answer) {
      const count = (asking.get(node) ?? 1) - 1;
      if (count > 0) asking.set(node, count);
      else asking.delete(node);
      const wasSilent = isSilent(node);
      if (answer === "answered") unanswered.delete(node);
      if (answer === "silent") unanswered.set(node, (unanswered.get(node) ?? 0) + 1);
      return answer === "answered" && wasSilent;
    },
  };
};
