/**
 * The order in which a Chromium has made its pages, noted from its start on: Chromium tells of a new page when it is
 * made, and lists the pages that are there in no order.
 */
import { z } from "zod";
import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";

const timeoutMs = 5000;

const PageEvent = z.object({
  targetId: z.string().optional(),
  targetInfo: z.object({ targetId: z.string() }).optional(),
});

export type PageOrder = {
  /** The same pages, the newest last. A page that Chromium has not told of yet is newer than all others. */
  sorted<Page extends { targetId: string }>(pages: readonly Page[]): Page[];
};

/**
 * Listens to the events of `cdp`, whose only listener this is, until it is closed. Rejects when the browser refuses.
 */
export const followPageOrder = async (cdp: Pick<CdpConnection, "send" | "onEvent">): Promise<PageOrder> => {
  const numbers = new Map<string, number>();
  let made = 0;
  cdp.onEvent(({ method, params, sessionId }) => {
    if (sessionId !== undefined) return;
    const { targetId, targetInfo } = PageEvent.safeParse(params).data ?? {};
    if (method === "Target.targetDestroyed" && targetId !== undefined) numbers.delete(targetId);
    if (method !== "Target.targetCreated" || !targetInfo || numbers.has(targetInfo.targetId)) return;
    made += 1;
    numbers.set(targetInfo.targetId, made);
  });
  await cdp.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] }, { timeoutMs });
  const numberOf = ({ targetId }: { targetId: string }): number => numbers.get(targetId) ?? Number.MAX_SAFE_INTEGER;
  return { sorted: (pages) => [...pages].sort((one, other) => numberOf(one) - numberOf(other)) };
};
