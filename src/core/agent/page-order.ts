/**
 * The order in which a Chromium has made its pages, noted from its start on: Chromium tells of a new page when it is
 * made, and lists the pages that are there in no order. Pages that the agent opens for a moment are none of them.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";

const timeoutMs = 5000;

const PageEvent = z.object({
  targetId: z.string().optional(),
  targetInfo: z.object({ targetId: z.string(), url: z.string().optional() }).optional(),
});

/** The first URL of the agent's own pages. Clients can read it, and would only hide a page of theirs with it. */
export const ownPageUrl = `about:blank#${randomUUID()}`;

export type PageOrder = {
  /** The same pages without the agent's own, the newest last. A page that Chromium has not told of yet is newer than all others. */
  sorted<Page extends { targetId: string; url?: string }>(pages: readonly Page[]): Page[];
  /** Grows with each page of this Chromium; undefined for a page that it has not told of yet. */
  numberOf(page: { targetId: string }): number | undefined;
};

/**
 * Listens to the events of `cdp`, whose only listener this is, until it is closed. Rejects when the browser refuses.
 */
export const followPageOrder = async (cdp: Pick<CdpConnection, "send" | "onEvent">): Promise<PageOrder> => {
  const numbers = new Map<string, number>();
  const own = new Set<string>();
  let made = 0;
  cdp.onEvent(({ method, params, sessionId }) => {
    if (sessionId !== undefined) return;
    const { targetId, targetInfo } = PageEvent.safeParse(params).data ?? {};
    if (targetInfo?.url === ownPageUrl) own.add(targetInfo.targetId);
    if (method === "Target.targetDestroyed" && targetId !== undefined) {
      numbers.delete(targetId);
      own.delete(targetId);
    }
    if (method !== "Target.targetCreated" || !targetInfo || numbers.has(targetInfo.targetId)) return;
    made += 1;
    numbers.set(targetInfo.targetId, made);
  });
  await cdp.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] }, { timeoutMs });
  const placeOf = ({ targetId }: { targetId: string }): number => numbers.get(targetId) ?? Number.MAX_SAFE_INTEGER;
  return {
    numberOf: ({ targetId }) => numbers.get(targetId),
    sorted: (pages) =>
      pages
        .filter(({ targetId, url }) => url !== ownPageUrl && !own.has(targetId))
        .sort((one, other) => placeOf(one) - placeOf(other)),
  };
};
