/** Reads entries of the audit logs: the recent lines of `GET /org/audit`, chosen as the public clients choose. */

import type { AuditLine } from "../../platform/audit/audit-line.ts";
import type { AuditLineStore } from "../../platform/audit/audit-line-store.ts";
import { readRecentLines } from "../../platform/audit/read-recent-lines.ts";
import { type AuditLogEntry, entryOf } from "./log-entry.ts";

/** What a caller asks for. `start`, `end`: RFC 3339; `end` is not part of it. */
type EntriesQuery = {
  start: string;
  end: string;
  auth_strategy?: string | undefined;
  method?: string | undefined;
  exclude_method?: string[] | undefined;
  search?: string | undefined;
  search_user_id?: string[] | undefined;
  limit: number;
  cursor?: string | undefined;
};

type EntriesPage = { entries: AuditLogEntry[]; next: string | undefined };

/** Whether the text is in an entry, or the entry is of one of the ids besides. */
const isFound = (
  { path, user_id, client_ip, status }: AuditLogEntry,
  { search, search_user_id: ids = [] }: EntriesQuery,
): boolean => {
  if (search === undefined && ids.length === 0) return true;
  if (ids.includes(user_id)) return true;
  const text = search?.toLowerCase();
  return (
    text !== undefined && [path, user_id, client_ip, String(status)].some((each) => each.toLowerCase().includes(text))
  );
};

const isWanted = (line: AuditLine, query: EntriesQuery): boolean => {
  const entry = entryOf(line);
  const isMethod = (method: string): boolean => entry.method === method.toUpperCase();
  if (query.auth_strategy !== undefined && entry.auth_strategy !== query.auth_strategy) return false;
  if (query.method !== undefined && !isMethod(query.method)) return false;
  return !query.exclude_method?.some(isMethod) && isFound(entry, query);
};

/** The latest first. A page may have few entries, or none, though more follow. Throws `unavailable`. */
export const readEntries = async (query: EntriesQuery, store: AuditLineStore): Promise<EntriesPage> => {
  const { lines, next } = await readRecentLines(
    {
      sinceMs: Date.parse(query.start),
      untilMs: Date.parse(query.end) - 1,
      accepts: (line) => isWanted(line, query),
      limit: query.limit,
      cursor: query.cursor,
    },
    store,
  );
  return { entries: lines.flatMap((line) => ("verb" in line ? entryOf(line) : [])), next };
};

/**
 * The same, where only the last page may be empty: the public clients take an empty page for the last one. Each project
 * has a bounded number of lines, so it comes to an end. Throws the reason of `signal`.
 */
export const readSomeEntries = async (
  query: EntriesQuery,
  store: AuditLineStore,
  signal: AbortSignal,
): Promise<EntriesPage> => {
  let page = await readEntries(query, store);
  while (page.entries.length === 0 && page.next !== undefined) {
    signal.throwIfAborted();
    page = await readEntries({ ...query, cursor: page.next }, store);
  }
  return page;
};
