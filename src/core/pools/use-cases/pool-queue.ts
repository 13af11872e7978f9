import { z } from "zod";
import type { LeaseStore } from "../../leases/lease-store.ts";
import { requestOf } from "../../leases/records.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";

/** A caller that waits for a browser, on the wire. */
export const QueuedSession = z.object({
  session_id: z.string().describe("The id of the session that it will have."),
  name: z.string().optional().describe("The name that it wants for the session."),
  tags: z.record(z.string(), z.string()).optional(),
  requested_at: z.iso.datetime().optional().describe("Since when it waits."),
});
export type QueuedSession = z.infer<typeof QueuedSession>;

/** Callers that are answered at most. */
const most = 100;

/** The callers that wait for a browser of a pool, the next one first. */
export const poolQueue = async (pool: BrowserPool, { store }: { store: LeaseStore }): Promise<QueuedSession[]> => {
  const waiters = await store.waiters(pool.metadata.uid, most);
  return waiters.map(({ session, request }) => {
    const { name, tags, asked_at } = requestOf({ request });
    return {
      session_id: session,
      ...(name && { name }),
      ...(tags && { tags }),
      ...(asked_at !== undefined && { requested_at: new Date(asked_at).toISOString() }),
    };
  });
};
