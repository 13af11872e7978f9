/** The call by which commands of WebDriver come to a browser: a contract for the API and for the agent. */
import { z } from "zod";
import { callContract } from "../../core/protocol/browser-call.ts";

/** Longest time of a timeout that a client sets, ms: that of a page's load if nobody sets it. */
export const longestTimeoutMs = 300_000;

/** Longest time for a command, ms. */
export const commandMs = longestTimeoutMs + 10_000;

/** Time for the start of a driver before that, ms. */
const startMs = 20_000;

/** Longest answer of a command, bytes. */
export const mostAnswerBytes = 12 * 1024 * 1024;

/** What a command comes to. */
export const CommandAnswer = z.object({
  status: z.int().min(200).max(599),
  body: z.object({ value: z.unknown() }),
  session: z
    .object({ asksBidi: z.boolean() })
    .optional()
    .describe("Of a session that was made: whether its client asks for the URL of WebDriver BiDi."),
});
export type CommandAnswer = z.infer<typeof CommandAnswer>;

/** `path`: below the session's base URL, e.g. `session/1f3a/url`. */
export const sendCommand = callContract({
  method: "post",
  name: "webdriver",
  answerMs: startMs + commandMs + 10_000,
  body: z.object({
    method: z.enum(["GET", "POST", "DELETE"]),
    path: z.string().max(4096),
    body: z.record(z.string(), z.unknown()).optional(),
  }),
  answer: CommandAnswer,
});
