/** The index of what a session has left: its entries, and where the bytes of its files are. */
import { z } from "zod";
import { FileInfo } from "../calls.ts";

/**
 * A line for each entry, all lines of a folder one after the other. What precedes the tab tells the folder,
 * and no name can have a tab or the end of a line in it: JSON escapes them. So one search finds the lines of a folder.
 */
export const LeftEntry = FileInfo.omit({ path: true }).extend({
  /** Where the bytes of a plain file begin; left out of anything else, and of what could not be read. */
  at: z.int().min(0).optional(),
});
export type LeftEntry = z.infer<typeof LeftEntry>;

/** What the lines of the entries of a folder begin with. `names`: the folder, below the root. */
export const lineBegin = (names: readonly string[]): string => `${JSON.stringify(names)}\t`;
