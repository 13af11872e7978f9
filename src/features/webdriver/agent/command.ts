/** Commands and answers of WebDriver BiDi, as far as they are read here. */
import { z } from "zod";

/** `id`: chosen by the client, or below zero by this process. `goog:channel`: is repeated in the answer. */
export const Command = z.object({
  id: z.int().nonnegative(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()),
  "goog:channel": z.string().optional(),
});
export type Command = z.infer<typeof Command>;

/** An answer or an event. */
export type Message = Record<string, unknown>;

/** The error codes of the specification that this process answers with by itself. */
type ErrorCode = "invalid argument" | "invalid session id" | "session not created" | "unknown error";

const channelOf = (command: Pick<Command, "goog:channel">): Message =>
  command["goog:channel"] ? { "goog:channel": command["goog:channel"] } : {};

/** The answer to a command that was carried out. */
export const success = (command: Command, result: unknown): Message => ({
  type: "success",
  id: command.id,
  result,
  ...channelOf(command),
});

/** The answer to a command that was not; `command`: as far as it could be read. */
export const failure = (command: Partial<Command> | undefined, error: ErrorCode, message: string): Message => ({
  type: "error",
  id: command?.id ?? null,
  error,
  message,
  ...channelOf(command ?? {}),
});

const Id = z.object({ id: z.int().nonnegative() });

/** Reads what a client has sent: a command, or the answer to what is no command. Never throws. */
export const readCommand = (text: string): { command: Command } | { answer: Message } => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { answer: failure(undefined, "invalid argument", "the message is not JSON") };
  }
  const parsed = Command.safeParse(json);
  if (parsed.success) return { command: parsed.data };
  const [issue] = parsed.error.issues;
  const what = `${issue?.path.join(".") || "the message"}: ${issue?.message}`;
  return { answer: failure(Id.safeParse(json).data, "invalid argument", what) };
};
