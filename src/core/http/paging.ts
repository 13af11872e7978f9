import { z } from "zod";
import type { Answer } from "./route.ts";

/** A text that is no number, which `Number` would take for 0. */
const isBlank = (text: unknown): boolean => typeof text === "string" && text.trim() === "";

/** A number in a query, as text. */
export const numberInQuery = (schema: z.ZodDefault<z.ZodInt>) =>
  z.preprocess((text) => (text === undefined || isBlank(text) ? text : Number(text)), schema);

/** Query fields of every list (HTTP-7, HTTP-8, HTTP-9). */
export const Paging = z.object({
  limit: numberInQuery(z.int().min(1).max(100).default(20)).describe("Items a page."),
  offset: numberInQuery(z.int().min(0).max(1_000_000).default(0)).describe("Where the page starts."),
});

/** The headers of a page: `X-Has-More` and `X-Next-Offset` (0 on the last page). */
export const pageHeaders = (hasMore: boolean, { limit, offset }: z.output<typeof Paging>): Record<string, string> => ({
  "X-Has-More": String(hasMore),
  "X-Next-Offset": String(hasMore ? offset + limit : 0),
});

/** One page of `items` as an answer, with its headers. */
export const pageOf = <T>(items: T[], paging: z.output<typeof Paging>): Answer & { body: T[] } => {
  const end = paging.offset + paging.limit;
  return {
    status: 200,
    body: items.slice(paging.offset, end),
    headers: pageHeaders(end < items.length, paging),
  };
};

/**
 * True when an item matches a list's `name` (exact) and `query` (part of the name, case-insensitive, or the exact id).
 */
export const isWanted = (
  item: { id: string; name?: string | undefined },
  { name, query }: { name?: string | undefined; query?: string | undefined },
): boolean => {
  if (name !== undefined && item.name !== name) return false;
  if (query === undefined || query === "") return true;
  return item.id === query || (item.name ?? "").toLowerCase().includes(query.toLowerCase());
};
