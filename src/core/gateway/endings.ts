/**
 * Why the gateway ends a client's connection, as the code and the reason of the closing frame say it (docs/clients.md).
 * Codes from 4000 on are the service's own (RFC 6455, 7.4.2): a client learns from them whether another browser helps.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { EndReason } from "../leases/records.ts";

/** A closing frame's code, and its reason in words. */
export type Ending = { code: number; reason: string };

/** Endings of which no ended lease tells. */
export const endings = {
  /** Nothing is known of the session's end: its browser has gone, or runs another Chromium now. */
  gone: { code: 1001, reason: "the session has ended, or its browser has" },
  lost: { code: 1014, reason: "the browser does not answer any more" },
  stopping: { code: 1012, reason: "this replica stops; connect to the same URL again" },
} as const satisfies Record<string, Ending>;

const ended = 4000;
const timedOut = 4001;
const crashed = 4002;
const drained = 4003;

/** By why a lease has ended (`EndReason`). */
const codes: Readonly<Record<EndReason, number>> = {
  released: ended,
  deleted: ended,
  pool_deleted: ended,
  timeout: timedOut,
  max_lifetime: timedOut,
  browser_crashed: crashed,
  browser_lost: crashed,
  node_drained: drained,
  pod_deleted: drained,
};

/** The ending of a session whose lease has ended for this reason. An unknown one is that of a newer operator. */
const endingOf = (endReason: string): Ending => ({
  code: new Map(Object.entries(codes)).get(endReason) ?? ended,
  reason: `the session has ended: ${endReason.slice(0, 64)}`,
});

/**
 * How often and how long Redis is asked why a session has ended, ms. A release is written there before the agent cuts
 * the connection; what the agent ends itself, a crash or the greatest age, the operator writes down a moment later.
 */
const lookEveryMs = 100;
const lookForMs = 2000;

/** Which session a connection is of. */
type ConnectedSession = { poolUid: string; sessionId: string };

/**
 * Tells why a session's connection was cut. All connections of a session that end together are one question. Never
 * rejects: what Redis can't tell in time is `gone`.
 */
export const createEndings = (store: Pick<LeaseStore, "endedLease">) => {
  const asked = new Map<string, Promise<Ending>>();
  const look = async ({ poolUid, sessionId }: ConnectedSession): Promise<Ending> => {
    for (const untilMs = performance.now() + lookForMs; performance.now() < untilMs; await sleep(lookEveryMs)) {
      const lease = await store.endedLease(poolUid, sessionId).catch(() => undefined);
      if (lease) return endingOf(lease.reason);
    }
    return endings.gone;
  };
  return (session: ConnectedSession): Promise<Ending> => {
    const key = `${session.poolUid}/${session.sessionId}`;
    const inTime = (): Promise<Ending> => Promise.race([look(session), sleep(lookForMs, endings.gone, { ref: false })]);
    const asking = asked.get(key) ?? inTime().finally(() => asked.delete(key));
    asked.set(key, asking);
    return asking;
  };
};
