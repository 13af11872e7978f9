/**
 * What an executor tells its agent, each as a line of JSON on a pipe of its own. Orders go to its standard input, and raw
 * bytes of CDP through another pipe (agent/executor-orders.ts). Code can write to the pipe as well: nothing in a message
 * is trusted.
 */
import { z } from "zod";
import { mostImageChars, mostResultChars } from "./executor-orders.ts";

/** Longest line, characters: a result, whose quotes are escaped once more. */
export const mostLineChars = 2 * mostResultChars + 1024;

const id = z.int();

/** `id`: that of the order which is carried out. */
export const ExecutorMessage = z.discriminatedUnion("is", [
  z.object({ is: z.literal("ready") }),
  z.object({ is: z.literal("tab"), id, target_id: z.string().max(100), created: z.boolean() }),
  z.object({ is: z.literal("text"), id, channel: z.enum(["write", "stdout", "stderr"]), text: z.string() }),
  z.object({
    is: z.literal("image"),
    id,
    mime_type: z.enum(["image/png", "image/jpeg", "image/webp"]),
    data_b64: z.string().max(mostImageChars),
  }),
  z.object({ is: z.literal("dropped"), id }),
  z.object({ is: z.literal("returned"), id, json: z.string().max(mostResultChars).optional() }),
  z.object({ is: z.literal("failed"), id, error: z.string(), stack: z.string() }),
]);
export type ExecutorMessage = z.infer<typeof ExecutorMessage>;
