/** The names of entries. What passes is a plain relative path that means the same on every system. */
import { ArchiveRefused, type ArchiveRule } from "./archive-refused.ts";
import { maxPathBytes, maxSegmentBytes } from "./limits.ts";

export type EntryName = {
  /** With `/` between the segments, and none at the end. */
  path: string;
  segments: string[];
  isFolder: boolean;
};

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A name as far as it can be read, for messages. */
export const readableName = (raw: Buffer): string => raw.toString("utf8");

type Check = { rule: ArchiveRule; breaks(name: string, raw: Buffer): boolean; message: string };

const checks: readonly Check[] = [
  { rule: "name_length", breaks: (name) => name === "", message: "an entry has an empty name" },
  {
    rule: "name_length",
    breaks: (_name, { length }) => length > maxPathBytes,
    message: `the name is longer than ${maxPathBytes} bytes`,
  },
  {
    rule: "name_characters",
    breaks: (name) => /\p{Cc}/u.test(name),
    message: "the name has a NUL or another control character",
  },
  {
    rule: "name_path",
    breaks: (name) => name.includes("\\"),
    message: "the name has a backslash; write folders with /",
  },
  { rule: "name_path", breaks: (name) => name.startsWith("/"), message: "the name is an absolute path" },
  { rule: "name_path", breaks: (name) => /^[a-z]:/i.test(name), message: "the name begins with a drive letter" },
];

const checkSegments = (segments: string[], refuse: (rule: ArchiveRule, message: string) => never): void => {
  for (const segment of segments) {
    if (segment === "") refuse("name_path", "the name has an empty part between two /");
    if (segment === "." || segment === "..") refuse("name_path", `the name has the part "${segment}"`);
    if (Buffer.byteLength(segment) > maxSegmentBytes)
      refuse("name_length", `a part of the name is longer than ${maxSegmentBytes} bytes`);
  }
};

/** Reads a name. A name that ends with `/` is a folder's. Throws `ArchiveRefused`. */
export const parseEntryName = (raw: Buffer): EntryName => {
  const entry = readableName(raw);
  const refuse = (rule: ArchiveRule, message: string): never => {
    throw new ArchiveRefused(rule, message, { entry });
  };
  let name: string;
  try {
    name = utf8.decode(raw);
  } catch {
    return refuse("name_encoding", "the name is not UTF-8");
  }
  const broken = checks.find(({ breaks }) => breaks(name, raw));
  if (broken) refuse(broken.rule, broken.message);
  const isFolder = name.endsWith("/");
  const path = isFolder ? name.slice(0, -1) : name;
  const segments = path.split("/");
  checkSegments(segments, refuse);
  return { path, segments, isFolder };
};
