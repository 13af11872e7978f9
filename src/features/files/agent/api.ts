/** The events of a watch, as its agent streams them (core/protocol/session-stream.ts): lines of `FileEvent`. */
import { z } from "zod";

/**
 * A path that something has happened to. A file that is renamed is told of by its former path, and its new one as
 * created.
 */
export const FileEvent = z.object({
  type: z.enum(["CREATE", "WRITE", "DELETE", "RENAME"]),
  path: z.string(),
  name: z.string(),
  is_dir: z.boolean(),
});
export type FileEvent = z.infer<typeof FileEvent>;
