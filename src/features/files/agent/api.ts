/**
 * What an agent streams of a session's files:
 *
 *   GET    /watches/{id}?session=…  → lines of `FileEvent` (core/protocol/session-stream.ts)
 *   GET    /files?session=…         → waits for the end of the lease, then lines of `LeftLine` | 404 when it keeps none of this session
 *   DELETE /files?session=…         → 200: they are stored, and the agent forgets them | 404
 */
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

/**
 * What a session has left when its lease ended: first what there is, or why there is nothing; then its index and the
 * bytes of its files, one after the other, in sealed pieces. `none`: it had no files.
 */
export const LeftLine = z.union([
  z.object({ index_bytes: z.int().min(0), content_bytes: z.int().min(0) }),
  z.object({ lost: z.string().max(32) }),
  z.object({ none: z.literal(true) }),
  z.object({ piece: z.base64() }),
]);
export type LeftLine = z.infer<typeof LeftLine>;

/** The path of the calls on what a session has left. */
export const leftPath = (session: string): string => `/files?${new URLSearchParams({ session })}`;

/** What a piece is sealed for, so that it can stand nowhere else. `offset`: in index and bytes together. */
export const leftContext = (session: string, offset: number): string => `files ${session} ${offset}`;

/** Most of one session that is kept: bytes of its files, entries, and bytes of its index. */
export const mostLeft = { bytes: 1024 ** 3, entries: 50_000, indexBytes: 16 * 1024 ** 2 };
