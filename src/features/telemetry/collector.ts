/**
 * The sessions whose events this replica collects (collecting/claimed-work.ts), and the room that the events have in
 * Redis.
 */

import { type ClaimedWork, startClaimedWork } from "../../core/collecting/claimed-work.ts";
import { resolveTelemetry } from "../../core/model/settings/telemetry.ts";
import type { Projects } from "../../core/projects/projects.ts";
import { createSemaphore } from "../../platform/base/semaphore.ts";
import type { CollectClaims } from "../../platform/redis/collect-claims.ts";
import type { MemoryUse } from "../../platform/redis/memory-use.ts";
import { type CollectDeps, collectSession } from "./collect-session.ts";

/** Collects the events of sessions. */
export type TelemetryCollector = ClaimedWork;

export type CollectorDeps = Omit<CollectDeps, "batches" | "isTight"> & { projects: Projects } & {
  claims: CollectClaims;
  memoryUse(): Promise<MemoryUse[]>;
};

/** Sessions of one replica: each has a connection to an agent. */
const mostSessions = 5000;

/** Batches in memory at once, of a megabyte at most. */
const mostBatches = 64;

/**
 * Telemetry is the first that gives room: from this share of Redis' limit on it keeps less. Ended leases follow at
 * 0.85.
 */
const tightShare = 0.75;

/** Begins to look. */
export const startTelemetryCollector = (deps: CollectorDeps): TelemetryCollector => {
  const { claims, log } = deps;
  const batches = createSemaphore(mostBatches);
  const adopted = new Set<string>();
  let isTight = false;
  const parts: CollectDeps = { ...deps, batches, isTight: () => isTight };

  const makeRoom = async (): Promise<void> => {
    const servers = await deps.memoryUse();
    isTight = servers.some(({ usedBytes, limitBytes }) => limitBytes > 0 && usedBytes > tightShare * limitBytes);
    if (isTight) for (const { id } of deps.projects.list()) await deps.events.trimEnded(id, 0);
  };
  /** Browsers made by YAML: no request has handed out their sessions. */
  const adopt = async (ensure: ClaimedWork["ensure"]): Promise<void> => {
    const all = deps.browsers.list();
    const present = new Set(all.map(({ metadata }) => metadata.uid));
    for (const uid of adopted) if (!present.has(uid)) adopted.delete(uid);
    for (const { metadata, spec, status } of all) {
      if (status?.phase !== "Active" || adopted.has(metadata.uid) || !resolveTelemetry(spec.telemetry)) continue;
      await ensure({ session: metadata.name, poolUid: metadata.uid });
      adopted.add(metadata.uid);
    }
  };
  return startClaimedWork({
    claims,
    run: (collected, signal) => collectSession(collected, parts, signal),
    most: mostSessions,
    async alsoLook(ensure) {
      await adopt(ensure);
      await makeRoom();
    },
    what: "the events of a session",
    log,
  });
};
