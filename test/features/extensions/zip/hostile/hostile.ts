import type { ArchiveRule } from "../../../../../src/platform/zip/archive-refused.ts";
import { writeZip, type ZipEntry, type ZipOptions } from "../../../../support/zip-writer.ts";
import { manifest } from "../extension-files.ts";

/** An archive that must be refused: its bytes, the rule that it breaks, and what the message names. */
export type Hostile = { title: string; rule: ArchiveRule; names: string; bytes: () => Buffer };

export const hostile = (title: string, rule: ArchiveRule, names: string, bytes: () => Buffer): Hostile => ({
  title,
  rule,
  names,
  bytes,
});

/** An archive with a manifest and these entries. */
export const withEntries = (entries: ZipEntry[], options?: ZipOptions) => () =>
  writeZip([manifest(), ...entries], options);

/** An archive with a manifest and this entry. */
export const withEntry = (entry: ZipEntry, options?: ZipOptions) => withEntries([entry], options);
