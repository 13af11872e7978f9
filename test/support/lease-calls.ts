/** The calls of one pool's callers, for tests of the lease scripts. */
import type { Grants } from "../../src/core/leases/grants.ts";
import type { BrowserRecord, LeaseRecord } from "../../src/core/leases/records.ts";
import type { LeaseParts } from "./lease-parts.ts";

/** `of` is called at each use, since a test file makes a new pool for every test. */
export const leaseCalls = (of: () => { parts: LeaseParts; replica: Grants; pool: string }) => {
  const take = async (session: string, grants: Grants = of().replica, ticket?: string) => {
    const { parts, pool } = of();
    await grants.follow(pool);
    const channel = grants.channel(pool);
    return parts.store.take(pool, { session, channel, request: `{"of":"${session}"}`, ...(ticket && { ticket }) });
  };
  const held = async (session: string): Promise<LeaseRecord> => {
    const outcome = await take(session);
    if (outcome.kind !== "granted") throw new Error(`${session}: ${outcome.kind}`);
    return outcome.lease;
  };
  const addBrowser = (): Promise<string> => of().parts.addBrowser(of().pool);
  const recordOf = async (id: string): Promise<BrowserRecord | undefined> =>
    (await of().parts.store.snapshot(of().pool)).browsers.find((browser) => browser.id === id);
  const stateOf = async (id: string) => (await recordOf(id))?.state;
  /** The next message for a waiting session. */
  const wakeOf = (session: string, grants: Grants = of().replica) => {
    const listener = grants.listen(of().pool, session);
    return listener.next(AbortSignal.timeout(5000)).finally(listener.stop);
  };
  return { take, held, addBrowser, recordOf, stateOf, wakeOf };
};
