import { createHash } from "node:crypto";
import { lineAt } from "../../../scripts/architecture/parse-source.ts";
import type { Mutation } from "../mutation.ts";
import type { Edit } from "./edit.ts";

const occurs = (text: string, part: string): number => text.split(part).length - 1;

/**
 * The range of whole lines around an edit that stands in the text once: lines above it are added, then lines below,
 * until it does.
 */
const uniqueLines = (text: string, { start, end }: Edit): { from: number; to: number } => {
  let from = text.lastIndexOf("\n", start - 1) + 1;
  // An edit that takes whole lines ends at the start of the next one.
  let to = text.indexOf("\n", Math.max(start, end - 1)) + 1 || text.length;
  while (occurs(text, text.slice(from, to)) > 1) {
    if (from > 0) from = text.lastIndexOf("\n", from - 2) + 1;
    else to = text.indexOf("\n", to) + 1 || text.length;
  }
  return { from, to };
};

/**
 * Makes an edit a mutation that fits by its text, so that it can be tried again after other places of the file have
 * changed. The name has its kind, file and line, and is the same for the same change.
 */
export const freshMutation = (
  kind: string,
  { file, text, edit }: { file: string; text: string; edit: Edit },
): Mutation => {
  const { from, to } = uniqueLines(text, edit);
  const find = text.slice(from, to);
  const replace = text.slice(from, edit.start) + edit.replace + text.slice(edit.end, to);
  const hash = createHash("sha256")
    .update(JSON.stringify([file, find, replace]))
    .digest("hex")
    .slice(0, 6);
  return { name: `${kind}:${file}:${lineAt(text, edit.start)}:${hash}`, kind, file, find, replace };
};
