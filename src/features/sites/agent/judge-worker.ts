/** The thread that judges (judge-apart.ts): a question in, its judgement out, in their order. */
import { parentPort } from "node:worker_threads";
import { createJudge } from "../judge/judge.ts";
import { builtInRules, readJudgeRules } from "../judge/read-rules.ts";
import type { Question } from "./judge-apart.ts";

const judge = createJudge(readJudgeRules({ builtIn: builtInRules, own: undefined }));

parentPort?.on("message", ({ visit, target }: Question) => {
  const { verdict, reason } = judge(visit, target);
  parentPort?.postMessage({ verdict, reason });
});
