/** Many sites in one text: a JSON object a line, with gzip, in base64. A packed text is what a SiteEvidence object holds. */
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { lastObserved } from "../domain/registry/site.ts";
import { maxPackedSites, SiteLine, shardCount } from "../resources/site-evidence.ts";
import type { SiteScope } from "../resources/site-recipe.ts";

/** Lines of one object by `siteKey`, unparsed: a replica keeps those of all objects, and parses the few that it is asked for. */
export type SiteLines = Map<string, string>;

/** Much more than what packs into the largest object; what unpacks to more is not ours. */
const maxUnpackedBytes = 64 * 1024 * 1024;

/** What leaves at once when an object is full, as a share of its sites. */
const leavingShare = 0.1;

/** The key of a site among the lines. */
export const siteKey = (scope: SiteScope, target: string): string => `${scope} ${target}`;

/** The name of the object with all sites of a registrable domain. */
export const shardOf = (domain: string): string =>
  `shard-${(createHash("sha256").update(domain).digest().readUInt32BE() % shardCount).toString(16).padStart(2, "0")}`;

/** A line as it is written: scope and target come first, and neither needs an escape in JSON. */
const head = /^\{"scope":"(\w+)","target":"([^"\\]*)"/;

/** Unpacks; throws for what is no packed text. Lines that begin otherwise than ours are left out. */
export const unpackSites = (packed: string): SiteLines => {
  const lines: SiteLines = new Map();
  if (packed === "") return lines;
  const text = gunzipSync(Buffer.from(packed, "base64"), { maxOutputLength: maxUnpackedBytes }).toString();
  for (const line of text.split("\n")) {
    const [, scope, target] = head.exec(line) ?? [];
    if (scope !== undefined && target !== undefined) lines.set(siteKey(scope as SiteScope, target), line);
  }
  return lines;
};

/** The site of a line; undefined for a line that is none. */
export const readSite = (line: string): SiteLine | undefined => {
  try {
    return SiteLine.parse(JSON.parse(line));
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

/** Narrow scopes leave first, and of these what was observed longest ago: a host's knowledge stands in for its pages'. */
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
