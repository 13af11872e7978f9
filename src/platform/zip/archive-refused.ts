/** The rules that an archive can break, as words that never change. */
export type ArchiveRule =
  | "archive_too_large"
  | "wrong_digest"
  | "too_many_files"
  | "unpacked_too_large"
  | "not_a_zip"
  | "malformed"
  | "zip64"
  | "stray_data"
  | "overlap"
  | "headers_differ"
  | "encrypted"
  | "unsupported_method"
  | "unsupported_flag"
  | "special_file"
  | "folder_or_file"
  | "name_encoding"
  | "name_characters"
  | "name_length"
  | "name_path"
  | "name_collision"
  | "wrong_size"
  | "wrong_checksum"
  | "no_manifest"
  | "bad_manifest";

/** Most characters of a name in a message. */
const shownLength = 100;

/**
 * A name from an archive, fit for a message or a log line: short, on one line, with every unprintable character
 * escaped.
 */
export const shownName = (name: string): string => {
  const escaped = name
    .slice(0, shownLength)
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|["\\]/gu, (character) =>
      character === '"' || character === "\\"
        ? `\\${character}`
        : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
    );
  return `"${escaped}${name.length > shownLength ? "…" : ""}"`;
};

/** An archive breaks a rule. The message names the entry, where one is at fault, and what is wrong with it. */
export class ArchiveRefused extends Error {
  override name = "ArchiveRefused";
  readonly rule: ArchiveRule;

  /** `entry`: the name of the entry at fault, as it is in the archive. */
  constructor(rule: ArchiveRule, message: string, { entry, ...options }: ErrorOptions & { entry?: string } = {}) {
    super(entry === undefined ? message : `${shownName(entry)}: ${message}`, options);
    this.rule = rule;
  }
}
