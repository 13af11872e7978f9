import { z } from "zod";
import type { Answer } from "./route.ts";

/** Query fields of every list (HTTP-7, HTTP-8, HTTP-9). */
export const Paging = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20).describe("Items a page."),
  offset: z.coerce.number().int().min(0).max(1_000_000).default(0).describe("Where the page starts."),
});

/** One page of `items` as an answer, with `X-Has-More` and `X-Next-Offset` (0 on the last page). */
export const pageOf = <T>(items: T[], { limit, offset }: z.output<typeof Paging>): Answer & { body: T[] } => {
  const hasMore = offset + limit < items.length;
  return {
    status: 200,
    body: items.slice(offset, offset + limit),
    headers: { "X-Has-More": String(hasMore), "X-Next-Offset": String(hasMore ? offset + limit : 0) },
  };
};

/** True when an item matches a list's `name` (exact) and `query` (part of the name, case-insensitive, or the exact id). */
export const isWanted = (
  item: { id: string; name?: string | undefined },
  { name, query }: { name?: string | undefined; query?: string | undefined },
): boolean => {
  if (name !== undefined && item.name !== name) return false;
  if (query === undefined || query === "") return true;
  return item.id === query || (item.name ?? "").toLowerCase().includes(query.toLowerCase());
};
