import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import type { FieldResult } from "./fill-result.ts";
import { fieldErrors } from "./fill-wire.ts";
import { callInFrame } from "./frames.ts";
import type { Write } from "./write-fields.ts";

/** How long after its last write a fill looks at its fields again, ms: pages check what was typed, and render, after 50 to 250. */
const settleMs = 300;

/** What of the time is left for the looks and the answer, ms. */
const answerMs = 200;

const Problem = z.enum(fieldErrors).optional();

/**
 * Looks at the filled fields once more, after a while: a page may have emptied or replaced one when it lost the focus, or by a timer. A
 * page that has gone on meanwhile has taken the values. Never rejects. `leftMs`: until the deadline of the fill.
 */
export const settleFields = async (
  cdp: CdpConnection,
  { writes, results, leftMs }: { writes: Write[]; results: FieldResult[]; leftMs: number },
  signal: AbortSignal,
): Promise<FieldResult[]> => {
  const filled = results.filter(({ status }) => status === "filled");
  const waitMs = Math.min(settleMs, leftMs - answerMs);
  if (filled.length === 0 || waitMs <= 0) return results;
  const look = async (result: FieldResult): Promise<FieldResult> => {
    const target = writes[result.index]?.target;
    if (result.status !== "filled" || !target) return result;
    const problem = Problem.safeParse(await callInFrame(cdp, target.frame, "settled", [target.id, target.selector]));
    return problem.data ? { ...result, status: "failed", error_code: problem.data } : result;
  };
  try {
    await sleep(waitMs, undefined, { signal });
  } catch {
    return results;
  }
  // A document that is gone can't be asked.
  return Promise.all(results.map((result) => look(result).catch(() => result)));
};
