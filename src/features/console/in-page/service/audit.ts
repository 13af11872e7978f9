/** The recent audit lines, as the API shows them. */
import type { RecentLine } from "../../../../platform/audit/audit-line.ts";
import { open } from "./api.ts";

/** Filters by their names in the API; empty ones don't count. */
export type AuditFilters = Readonly<
  Partial<Record<"project" | "key_id" | "verb" | "session" | "result" | "cursor", string>>
>;

/** `next`: the cursor of older lines; undefined when there are none. */
export type AuditPage = { lines: RecentLine[]; next: string | undefined };

/** Reads one page, the latest line first. */
export const readAuditPage = async (filters: AuditFilters, signal: AbortSignal): Promise<AuditPage> => {
  const response = await open("GET", "/org/audit", { query: { limit: 100, ...filters }, signal });
  return { lines: await response.json(), next: response.headers.get("X-Next-Cursor") ?? undefined };
};
