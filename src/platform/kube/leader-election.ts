/**
 * Leader election by a `Lease` object, like client-go's: one replica leads, the others wait.
 *
 *   waiting ──(lease free, or unchanged for its duration by our own clock)──► leading
 *   leading ──(renewed every `renewMs`)──► leading
 *   leading ──(not renewed within `renewDeadlineMs`, another holder, or its work has ended)──► work aborted, then waiting
 *
 * A leader stops its work *before* another replica may take over: the deadline is shorter than the duration. A replica
 * never compares its clock with that of another machine; it only checks whether the lease has changed since it last
 * read it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../base/log.ts";
import type { Kube } from "./client.ts";
import type { Lease, NamespacedRef } from "./objects.ts";
import { leases } from "./resource-type.ts";

/** Resolves when this replica no longer leads. */
export const whenLeadEnds = async ({ signal }: Pick<Lead, "signal">): Promise<void> => {
  const over = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => over.resolve(), { once: true });
  if (signal.aborted) over.resolve();
  await over.promise;
};

type LeaderElectionOptions = {
  kube: Kube;
  lease: NamespacedRef;
  /** Unique among the replicas. */
  identity: string;
  /** Runs while this replica leads; must end soon when the lead's signal is aborted. */
  lead: (lead: Lead) => Promise<void>;
  log: Logger;
  timing?: ElectionTiming;
};

/** The time in which this replica leads. */
export type Lead = {
  /** Aborted when this replica stops leading. */
  signal: AbortSignal;
  /**
   * Throws when this replica does not lead (any more). Call it before every write. It reads the clock itself: when a
   * process was frozen for longer than its lease, its code may run on before its timers fire.
   */
  check(): void;
};

type ElectionTiming = { durationMs: number; renewDeadlineMs: number; renewMs: number };

/** client-go's defaults. */
const defaultTiming: ElectionTiming = { durationMs: 15_000, renewDeadlineMs: 10_000, renewMs: 2000 };

export type LeaderElection = { isLeader(): boolean; stop(): Promise<void> };

/** The version of another replica's lease, and when this replica first read it. */
type ObservedLease = { version: string | undefined; atMs: number };

const micro = (): string => new Date().toISOString().replace("Z", "000Z");

/** The lease as this replica holds it. */
const claimSpec = (
  known: Lease | undefined,
  identity: string,
  { durationMs }: ElectionTiming,
): Lease["spec"] & object => {
  const isOurs = known?.spec?.holderIdentity === identity;
  const transitions = known?.spec?.leaseTransitions ?? 0;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    acquireTime: (isOurs && known?.spec?.acquireTime) || micro(),
    renewTime: micro(),
    leaseTransitions: isOurs ? transitions : transitions + 1,
  };
};

/**
 * Joins the election and runs `lead` each time this replica wins. `stop` waits for `lead` to end and then frees the
 * lease.
 */
export const startLeaderElection = (options: LeaderElectionOptions): LeaderElection => {
  const { kube, lease: ref, identity, lead, log, timing = defaultTiming } = options;
  const stopping = new AbortController();
  let observed: ObservedLease = { version: undefined, atMs: performance.now() };
  let leading = false;

  const write = async (known: Lease | undefined): Promise<void> => {
    const spec = claimSpec(known, identity, timing);
    if (!known) {
      await kube.create(leases, { metadata: ref, spec });
      return;
    }
    const { uid, resourceVersion } = known.metadata;
    await kube.replace(leases, { metadata: { ...ref, uid, resourceVersion }, spec });
  };
  const mayClaim = (known: Lease | undefined): boolean => {
    const holder = known?.spec?.holderIdentity;
    if (!known || !holder || holder === identity) return true;
    if (observed.version !== known.metadata.resourceVersion) {
      observed = { version: known.metadata.resourceVersion, atMs: performance.now() };
      return false;
    }
    return performance.now() - observed.atMs > timing.durationMs;
  };
  /**
   * Claims or renews the lease; returns whose it is then. `unknown`: another replica was faster, or the API did not
   * answer.
   */
  const tryClaim = async (): Promise<"ours" | "another's" | "unknown"> => {
    try {
      const known = await kube.get(leases, ref);
      if (!mayClaim(known)) return "another's";
      await write(known);
      return "ours";
    } catch (err) {
      log.debug({ err }, "leader election: the lease could not be written");
      return "unknown";
    }
  };
  const pause = (signal: AbortSignal): Promise<unknown> =>
    sleep(timing.renewMs, undefined, { signal }).catch(() => undefined);

  /** `claimedAtMs`: when this replica sent the claim. The others count from when they read it, which is later. */
  const holdLead = async (claimedAtMs: number): Promise<void> => {
    const lost = new AbortController();
    const lose = (): void => {
      leading = false;
      lost.abort();
    };
    let renewedAtMs = claimedAtMs;
    const leftMs = (): number => renewedAtMs + timing.renewDeadlineMs - performance.now();
    // A timer, because a call may hang for longer than the lease lasts.
    let deadline = setTimeout(lose, leftMs());
    const check = (): void => {
      if (leftMs() <= 0) lose();
      if (lost.signal.aborted) throw new Error("this replica does not lead any more");
    };
    const work = lead({ signal: lost.signal, check })
      .catch((err: unknown) => log.error({ err }, "the leader's work failed"))
      .finally(lose);
    const until = AbortSignal.any([stopping.signal, lost.signal]);
    while (!until.aborted) {
      await pause(until);
      const sentMs = performance.now();
      const owner = until.aborted ? "unknown" : await tryClaim();
      if (owner === "another's") lose();
      if (owner === "unknown" || until.aborted) continue;
      renewedAtMs = sentMs;
      clearTimeout(deadline);
      deadline = setTimeout(lose, leftMs());
    }
    lose();
    clearTimeout(deadline);
    await work;
  };
  const giveUp = async (): Promise<void> => {
    const known = await kube.get(leases, ref).catch(() => undefined);
    if (known?.spec?.holderIdentity !== identity) return;
    await kube.replace(leases, { ...known, spec: { ...known.spec, holderIdentity: "" } }).catch(() => undefined);
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const sentMs = performance.now();
      if ((await tryClaim()) === "ours") {
        leading = true;
        log.info({ identity }, "leading");
        await holdLead(sentMs);
        log.info({ identity }, "no longer leading");
      }
      if (!stopping.signal.aborted) await pause(stopping.signal);
    }
    await giveUp();
  };
  const running = run();
  return {
    isLeader: () => leading,
    async stop() {
      stopping.abort();
      await running;
    },
  };
};
