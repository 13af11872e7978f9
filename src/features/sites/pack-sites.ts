/**
 * Many sites in one text: a JSON object a line, with gzip, in base64. A packed text is what a SiteEvidence object
 * holds.
 */
import { crc32, gunzipSync, gzipSync } from "node:zlib";
import { lastObserved } from "./rules/site.ts";
import { maxPackedSites, SiteLine, shardCount } from "./site-evidence.ts";
import type { SiteScope } from "./site-recipe.ts";

/** Lines of one object by `siteKey`, unparsed, to be changed. */
export type SiteLines = Map<string, string>;

/**
 * The same to be read only, with the text outside of the heap: a replica keeps those of all objects, and parses the few
 * lines it is asked for.
 */
export type SiteText = {
  get(key: string): string | undefined;
  has(key: string): boolean;
  keys(): Iterable<string>;
  size: number;
};

/** Much more than what packs into the largest object; what unpacks to more is not ours. */
const maxUnpackedBytes = 64 * 1024 * 1024;

/** What leaves at once when an object is full, as a share of its sites. */
const leavingShare = 0.1;

/** The key of a site among the lines. */
export const siteKey = (scope: SiteScope, target: string): string => `${scope} ${target}`;

/** The name of the object with all sites of a registrable domain. */
export const shardOf = (domain: string): string =>
  `shard-${(crc32(domain) % shardCount).toString(16).padStart(2, "0")}`;

/** A line as it is written: scope and target come first, and neither needs an escape in JSON. */
const head = /^\{"scope":"(\w+)","target":"([^"\\]*)"/;

const newline = 10;

const endOfLine = (text: Buffer, start: number): number => {
  const end = text.indexOf(newline, start);
  return end < 0 ? text.length : end;
};

const lineAt = (text: Buffer, start: number): string => text.toString("utf8", start, endOfLine(text, start));

/** Lines that begin otherwise than ours are left out. */
const linesOf = function* (text: Buffer): Generator<{ key: string; line: string; start: number }> {
  for (let start = 0; start < text.length; start = endOfLine(text, start) + 1) {
    const line = lineAt(text, start);
    const [, scope, target] = head.exec(line) ?? [];
    if (scope !== undefined && target !== undefined) yield { key: siteKey(scope as SiteScope, target), line, start };
  }
};

const unpack = (packed: string): Buffer =>
  packed === "" ? Buffer.alloc(0) : gunzipSync(Buffer.from(packed, "base64"), { maxOutputLength: maxUnpackedBytes });

/** Unpacks; throws for what is no packed text. */
export const unpackSites = (packed: string): SiteLines =>
  new Map(linesOf(unpack(packed)).map(({ key, line }) => [key, line]));

/** Unpacks to read; throws for what is no packed text. */
export const openSites = (packed: string): SiteText => {
  const text = unpack(packed);
  // A part of a string holds on to the whole of it, here a line: the keys are copies.
  const starts = new Map(linesOf(text).map(({ key, start }) => [Buffer.from(key).toString(), start]));
  return {
    get(key) {
      const start = starts.get(key);
      return start === undefined ? undefined : lineAt(text, start);
    },
    has: (key) => starts.has(key),
    keys: () => starts.keys(),
    size: starts.size,
  };
};

/** The site of a line; undefined for any other line. */
export const readSite = (line: string): SiteLine | undefined => {
  try {
    return SiteLine.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
};

/**
 * The site of a line that `writeSite` has made, unchecked: a lookup takes no longer for that. Undefined for a line that
 * is no JSON or has no configurations.
 */
export const parseSite = (line: string): SiteLine | undefined => {
  try {
    const site = JSON.parse(line) as SiteLine;
    return Array.isArray(site.configurations) ? site : undefined;
  } catch {
    return undefined;
  }
};

/** The inverse of `readSite`. */
export const writeSite = ({ scope, target, ...site }: SiteLine): string => JSON.stringify({ scope, target, ...site });

const pack = (lines: SiteLines): string =>
  lines.size === 0 ? "" : gzipSync([...lines.values()].join("\n"), { level: 6 }).toString("base64");

const ageOf = (line: string): number => {
  const site = readSite(line);
  return Date.parse((site && lastObserved(site)) ?? "1970-01-01");
};

/**
 * Narrow scopes leave first, and of these what was observed longest ago: a host's knowledge stands in for its pages'.
 */
const inOrderOfLeaving = (lines: SiteLines): string[] => {
  const rank = (key: string): number => (key.startsWith("exact ") ? 0 : 1);
  return [...lines]
    .map(([key, line]) => ({ key, rank: rank(key), age: ageOf(line) }))
    .sort((a, b) => a.rank - b.rank || a.age - b.age)
    .map(({ key }) => key);
};

/** Packs. Where an object would become too large, sites leave it: `left` says how many. */
export const packSites = (
  lines: SiteLines,
  maxLength = maxPackedSites,
): { packed: string; siteCount: number; left: number } => {
  const kept = new Map(lines);
  let packed = pack(kept);
  if (packed.length > maxLength) {
    const leaving = inOrderOfLeaving(kept);
    const step = Math.max(1, Math.ceil(leaving.length * leavingShare));
    for (let gone = 0; packed.length > maxLength; gone += step) {
      for (const key of leaving.slice(gone, gone + step)) kept.delete(key);
      packed = pack(kept);
    }
  }
  return { packed, siteCount: kept.size, left: lines.size - kept.size };
};
