/**
 * Lists page by page: the API server and this process hold one page at a time, and each page has a deadline of its own,
 * so that a list has no size at which it fails. All pages show the objects as they were when the first was made.
 */
import { z } from "zod";
import type { Calls } from "./calls.ts";
import { hasReason } from "./kube-error.ts";
import { type KubeObject, storedObject } from "./objects.ts";
import { pathOf, type ResourceType } from "./resource-type.ts";

export type Selection = { namespace?: string; labelSelector?: string; fieldSelector?: string };

export type ObjectList<T> = { items: T[]; resourceVersion: string };

/** The items are checked one by one. */
const Page = z.object({
  items: z.array(z.unknown()).nullish(),
  metadata: z.object({
    resourceVersion: z.string(),
    continue: z.string().optional(),
    remainingItemCount: z.number().optional(),
  }),
});

/** Objects on a page. */
const pageSize = 500;

/** How often a list begins, when the API server has forgotten the moment of its first page meanwhile. */
const attempts = 3;

/** The part of a query that selects. */
export const selectors = ({ labelSelector, fieldSelector }: Selection): Record<string, string | undefined> => ({
  labelSelector,
  fieldSelector,
});

const listOnce = async <T extends KubeObject>(
  type: ResourceType<T>,
  { limit = Number.POSITIVE_INFINITY, ...selection }: Selection & { limit?: number },
  parsed: Calls["parsed"],
): Promise<ObjectList<T>> => {
  const path = pathOf(type, selection.namespace ? { namespace: selection.namespace } : {});
  const items: T[] = [];
  for (let next = ""; ; ) {
    const wanted = Math.min(pageSize, limit - items.length);
    const query = { ...selectors(selection), limit: wanted, ...(next && { continue: next }) };
    const page = await parsed({ method: "GET", path, query }, Page);
    for (const item of page.items ?? []) items.push(storedObject(type, item));
    next = page.metadata.continue ?? "";
    if (!next || items.length >= limit) return { items, resourceVersion: page.metadata.resourceVersion };
  }
};

/**
 * How many objects of a kind a namespace has, or all namespaces have, by one object and what the API server says of the
 * rest. While objects come and go it can be a few too many or too few.
 */
export const countObjects = async <T extends KubeObject>(
  type: ResourceType<T>,
  namespace: string | undefined,
  parsed: Calls["parsed"],
): Promise<number> => {
  const path = pathOf(type, namespace === undefined ? {} : { namespace });
  const page = await parsed({ method: "GET", path, query: { limit: 1 } }, Page);
  return (page.items?.length ?? 0) + (page.metadata.remainingItemCount ?? 0);
};

/**
 * `limit`: no more than this many objects, the first by name. Throws a `KubeError`; nothing of a list that fails is
 * returned.
 */
export const listPages = async <T extends KubeObject>(
  type: ResourceType<T>,
  selection: Selection & { limit?: number },
  parsed: Calls["parsed"],
): Promise<ObjectList<T>> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await listOnce(type, selection, parsed);
    } catch (error) {
      if (!hasReason(error, "Expired") || attempt === attempts) throw error;
    }
  }
};
