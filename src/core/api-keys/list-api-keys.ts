import type { Projects } from "../projects/projects.ts";
import type { StoredApiKey } from "./api-key-secret.ts";
import type { ApiKeys } from "./api-keys.ts";
import { apiKeyNotFound } from "./change-api-key.ts";

/** A record with the names of its creator and its project; undefined when a name is not known. */
export type ApiKeyView = StoredApiKey & { creatorName: string | undefined; projectName: string | undefined };

type Deps = { apiKeys: ApiKeys; projects: Projects };

export type ApiKeyQuery = {
  /** The exact name. */
  name?: string | undefined;
  /**
   * Part of the key's, the creator's or the project's name, case-insensitive; or the start of the id or the masked key.
   */
  query?: string | undefined;
  /** Expired keys that are not deleted count as active. */
  status: "active" | "deleted" | "all";
  sortBy: "created_at" | "name" | "expires_at";
  direction: "asc" | "desc";
};

/** Adds the names of the key's creator and project, if they are still known. */
export const viewApiKey = (record: StoredApiKey, { apiKeys, projects }: Deps): ApiKeyView => {
  const project = record.projectId === undefined ? undefined : projects.find(record.projectId);
  return {
    ...record,
    creatorName: apiKeys.find(record.createdBy)?.name,
    projectName: project?.id === record.projectId ? project?.name : undefined,
  };
};

/** The key with this id; a deleted one only with `includeDeleted`. Throws `not_found`. */
export const getApiKey = (id: string, includeDeleted: boolean, deps: Deps): ApiKeyView => {
  const record = deps.apiKeys.find(id);
  if (!record || (record.deletedAt !== undefined && !includeDeleted)) throw apiKeyNotFound(id);
  return viewApiKey(record, deps);
};

const matches = (key: ApiKeyView, query: string): boolean => {
  const part = query.toLowerCase();
  const names = [key.name, key.creatorName ?? "", key.projectName ?? ""];
  return (
    names.some((name) => name.toLowerCase().includes(part)) ||
    key.id.startsWith(query) ||
    key.maskedKey.startsWith(query)
  );
};

const isWanted = (key: ApiKeyView, { name, query, status }: ApiKeyQuery): boolean => {
  if (status !== "all" && (key.deletedAt !== undefined) !== (status === "deleted")) return false;
  if (name !== undefined && key.name !== name) return false;
  return !query || matches(key, query);
};

/** Sorts keys that never expire after all others. */
const never = "9999";

const sortKey = (key: ApiKeyView, sortBy: ApiKeyQuery["sortBy"]): string => {
  if (sortBy === "name") return key.name.toLowerCase();
  return sortBy === "created_at" ? key.createdAt : (key.expiresAt ?? never);
};

/**
 * The keys that match the query. Keys with equal sort values are in the order of their ids, so that no page repeats or
 * skips one.
 */
export const listApiKeys = (query: ApiKeyQuery, deps: Deps): ApiKeyView[] => {
  const wanted = deps.apiKeys
    .list()
    .map((record) => viewApiKey(record, deps))
    .filter((key) => isWanted(key, query));
  const sign = query.direction === "asc" ? 1 : -1;
  return wanted.sort((a, b) => {
    const [x, y] = [sortKey(a, query.sortBy), sortKey(b, query.sortBy)];
    if (x === y) return a.id < b.id ? -1 : 1;
    return x < y ? -sign : sign;
  });
};
