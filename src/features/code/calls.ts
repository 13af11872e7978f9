/** The calls by which a holder runs code beside its browser: contracts for the API and for the agent. */
import { z } from "zod";
import { callContract } from "../../core/protocol/browser-call.ts";

/** Longest code, characters: a body has 1 MiB. */
const mostCodeChars = 262_144;

/** Bounds of `timeout_sec`, seconds. */
const mostSeconds = 300;

/** Longest time for an answer, ms: a turn that others have first (agent/executors.ts), a start, and the code itself. */
const answerMs = (mostSeconds + 120) * 1000;

/** The executor that runs calls without a name. */
export const defaultExecutor = "default";

const executorName = z
  .string()
  .regex(/^[a-zA-Z0-9._-]{1,64}$/, "is 1 to 64 letters, digits, dots, underscores and hyphens");

const timeout = z
  .int()
  .min(1)
  .max(mostSeconds)
  .optional()
  .describe("Longest time for the code, seconds; by default 60. Code that takes longer is ended, with its executor.");

const Tab = z.object({
  target_id: z.string().describe("The target of CDP that the tab is."),
  created: z.boolean().describe("Whether this call has opened it."),
});

/** Runs TypeScript with Playwright. */
export const executePlaywright = callContract({
  method: "post",
  name: "playwright/execute",
  answerMs,
  body: z.object({
    code: z
      .string()
      .min(1)
      .max(mostCodeChars)
      .describe("TypeScript or JavaScript: the body of an async function with `page`, `context` and `browser`."),
    executor: executorName
      .optional()
      .describe("Whose process runs it; one with a new name is made. By default the executor `default`."),
    timeout_sec: timeout,
  }),
  answer: z.object({
    success: z.boolean().describe("Whether the code came to its end."),
    result: z.json().optional().describe("What the code returned."),
    error: z.string().optional().describe("What was thrown, and where in the code; or why it did not come to its end."),
    stdout: z.string().optional().describe("What it wrote, 1 MiB at most."),
    stderr: z.string().optional().describe("As stdout."),
    tab: Tab.optional().describe("The tab that `page` was."),
  }),
});

/** The default one, then those with names in the order in which they were made. */
export const listExecutors = callContract({
  method: "get",
  name: "playwright/executors",
  answer: z.object({
    executors: z.array(
      z.object({
        name: z.string(),
        busy: z.boolean().describe("Whether it runs code now."),
        created_at: z.iso.datetime().describe("The start of the session for the default one."),
        last_used_at: z.iso.datetime().describe("When its latest code began; before, as created_at."),
        target_id: z.string().optional().describe("Its own tab. The default executor has none."),
        url: z.string().optional().describe("Where that tab is, while it is open."),
      }),
    ),
  }),
});

/** Ends its process; one with a name is gone then, and its tab. */
export const deleteExecutor = callContract({
  method: "delete",
  name: "playwright/executors/{name}",
  query: z.object({
    close_tab: z.enum(["true", "false"]).optional().describe("Whether its tab is closed too; by default true."),
  }),
  answer: undefined,
});

/** Runs JavaScript whose declarations stay. */
export const runRepl = callContract({
  method: "post",
  name: "repl",
  answerMs,
  body: z
    .object({
      code: z
        .string()
        .max(mostCodeChars)
        .describe("JavaScript, with `await` also at the top. Empty only with `reset`."),
      reset: z.boolean().optional().describe("Ends the present REPL first, with what it has kept."),
      timeout_sec: timeout,
    })
    .refine(({ code, reset }) => code !== "" || reset, { path: ["code"], message: "is empty" }),
  answer: z.object({
    repl_id: z.string().describe("The REPL that ran it; another one after a reset, a timeout or a crash."),
    success: z.boolean(),
    content: z
      .array(
        z.discriminatedUnion("type", [
          z.object({ type: z.literal("text"), channel: z.enum(["write", "stdout", "stderr"]), text: z.string() }),
          z.object({
            type: z.literal("image"),
            mime_type: z.string().describe("image/png, image/jpeg or image/webp."),
            data_b64: z.string(),
          }),
        ]),
      )
      .optional()
      .describe("What it wrote, in this order."),
    content_truncated: z.boolean().optional().describe("Whether something of it was left out."),
    duration_ms: z.int().optional(),
    error: z.string().optional(),
    stack: z.string().optional().describe("What was thrown, and where in the code."),
    repl_terminated: z.boolean().optional().describe("Whether this REPL has ended by this call."),
  }),
});
