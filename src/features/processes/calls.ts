/** The calls by which a holder runs processes beside its browser: contracts for the API and for the agent. */
import { z } from "zod";
import { callContract } from "../../core/protocol/browser-call.ts";

/** Longest time of a process whose caller waits for its end, seconds. */
const mostExecSeconds = 300;

/** Its usual one. */
export const usualExecSeconds = 60;

/** Longest time of others, seconds: no session is older. */
const mostSpawnSeconds = 259_200;

/** Time for a start and for the last output before that, ms. */
const marginMs = 30_000;

/** Most that is kept of each stream of a process whose caller waits for its end, bytes. */
export const mostExecBytes = 1024 * 1024;

/** Largest input of one call, bytes. */
const mostInputBytes = 64 * 1024;

/** Longest command, argument or value of a variable, and most of each, characters and entries. */
const mostChars = 65_536;
const mostEntries = 256;

const noNul = (text: string): boolean => !text.includes("\0");
const text = z.string().max(mostChars).refine(noNul, "has a NUL character");

const side = z.int().min(1).max(1000);

const asked = {
  command: text
    .min(1)
    .describe("Without `args` a command of the shell (`sh -c`); with them, also with none, the program to run."),
  args: z.array(text).max(mostEntries).optional().describe("Arguments of the program."),
  cwd: z
    .string()
    .max(4096)
    .regex(/^\/tmp(\/([^/.][^/]*|\.([^/.][^/]*)?|\.\.[^/]+)?)*$/, "must be /tmp or a folder below, without `..`")
    .refine(noNul, "has a NUL character")
    .nullish()
    .describe("Where it starts, a folder of the session. By default /tmp/work."),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/, "is no name of a variable"), text)
    .refine((given) => Object.keys(given).length <= mostEntries, `has more than ${mostEntries} entries`)
    .optional()
    .describe("Its variables, beside PATH, HOME, TMPDIR, LANG and, on a terminal, TERM."),
};

const seconds = (most: number) => z.int().min(1).max(most).nullish();

const exitCode = z.int().min(0).max(255).describe("128 and the number of the signal that ended it.");

/** Runs a process to its end. */
export const execProcess = callContract({
  method: "post",
  name: "process/exec",
  answerMs: mostExecSeconds * 1000 + marginMs,
  body: z.object({
    ...asked,
    timeout_sec: seconds(mostExecSeconds).describe("Longest time, seconds; then it is killed. By default 60."),
  }),
  answer: z.object({
    exit_code: exitCode,
    stdout_b64: z.base64().describe("The first 1 MiB of what it wrote."),
    stderr_b64: z.base64().describe("As stdout_b64."),
    duration_ms: z.int().min(0),
    timed_out: z.boolean().describe("Whether it was killed because its time was over."),
    stdout_truncated: z.boolean().describe("Whether it wrote more."),
    stderr_truncated: z.boolean(),
  }),
});

/** Starts a process that goes on. */
export const spawnProcess = callContract({
  method: "post",
  name: "process/spawn",
  body: z
    .object({
      ...asked,
      allocate_tty: z.boolean().optional().describe("Whether it has a terminal; then all its output is stdout."),
      cols: side.optional().describe("Of the terminal; by default 80."),
      rows: side.optional().describe("Of the terminal; by default 24."),
      timeout_sec: seconds(mostSpawnSeconds).describe("Longest time, seconds; by default that of the session."),
    })
    .refine(({ allocate_tty, cols, rows }) => allocate_tty || (cols ?? rows) === undefined, {
      path: ["allocate_tty"],
      message: "cols and rows are of a terminal",
    }),
  answer: z.object({
    process_id: z.string(),
    pid: z.int().describe("Its number among its own processes."),
    started_at: z.iso.datetime(),
  }),
});

/** How a process is. */
export const processStatus = callContract({
  method: "get",
  name: "process/{process_id}/status",
  answer: z.object({
    state: z.enum(["running", "exited"]),
    exit_code: exitCode.optional(),
    cpu_pct: z.number().min(0).describe("Of one processor, with all that it has started, since its start."),
    mem_bytes: z.int().min(0).describe("Resident now, with all that it has started."),
  }),
});

/** Writes to its input. */
export const writeStdin = callContract({
  method: "post",
  name: "process/{process_id}/stdin",
  body: z.object({
    data_b64: z.base64().max(Math.ceil(mostInputBytes / 3) * 4, `has more than ${mostInputBytes} bytes`),
  }),
  answer: z.object({ written_bytes: z.int().min(0) }),
});

const Ok = z.object({ ok: z.literal(true) });

/** Changes the size of its terminal. */
export const resizeTerminal = callContract({
  method: "post",
  name: "process/{process_id}/resize",
  body: z.object({ cols: side, rows: side }),
  answer: Ok,
});

/** Sends it a signal. */
export const killProcess = callContract({
  method: "post",
  name: "process/{process_id}/kill",
  body: z.object({
    signal: z.enum(["TERM", "KILL", "INT", "HUP"]).describe("Goes to the process and to its group."),
  }),
  answer: Ok,
});
