/**
 * The registry's judge in a thread of its own. To read its rules takes 0.12 s and 16 MB: in the agent's own thread the
 * holder's bytes would wait for that, and the memory would stay.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Judgement } from "../judge/judge.ts";
import type { Target } from "../rules/target.ts";
import type { Visit } from "../visit/visit.ts";

/** Most memory of the thread, MB: much more than a judgement of the largest page needs. */
const maxMegabytes = 96;

export type Question = { visit: Visit; target: Target };
export type Judged = Pick<Judgement, "verdict" | "reason">;

export type JudgeApart = {
  /** One question at a time. Rejects when the thread has failed, or `signal` is aborted. */
  judge(question: Question, signal: AbortSignal): Promise<Judged>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts the thread; it reads its rules meanwhile. */
export const startJudge = (): JudgeApart => {
  const thread = new Worker(new URL("judge-worker.ts", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: maxMegabytes },
    // Nothing of the agent's environment or of its options is the thread's business.
    env: {},
    argv: [],
    execArgv: [],
  });
  const failed = new AbortController();
  thread.on("error", () => failed.abort(new Error("the judge has failed")));
  thread.on("exit", () => failed.abort(new Error("the judge has ended")));
  return {
    async judge(question, signal) {
      const over = AbortSignal.any([signal, failed.signal]);
      over.throwIfAborted();
      const answer = once(thread, "message", { signal: over });
      thread.postMessage(question);
      const [judged] = (await answer) as [Judged];
      return judged;
    },
    [Symbol.asyncDispose]: async () => void (await thread.terminate()),
  };
};
