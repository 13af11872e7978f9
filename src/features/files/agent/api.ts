/** The events of a watch, as its agent streams them: `GET /watches/{id}?session=…`, lines of `FileEvent`. */
import { z } from "zod";
import { maxSessionId } from "../../../core/protocol/agent-api.ts";

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

/** The query of the call. */
export const WatchQuery = z.object({ session: z.string().min(1).max(maxSessionId) });

/** The call's path with its query. */
export const watchPath = ({ session, id }: { session: string; id: string }): string =>
  `/watches/${encodeURIComponent(id)}?${new URLSearchParams({ session })}`;
