/** A pool as the HTTP API shows it (POOL-6 to POOL-9). */

import { createdAt, wireId, wireName } from "../../../platform/kinds/identity.ts";
import { toWire } from "../../../platform/kinds/wire.ts";
import type { ResolvedReferences } from "../settings/references.ts";
import { resolveTelemetry, type Telemetry } from "../settings/telemetry.ts";
import type { BrowserPool } from "./browser-pool.ts";
import { type BrowserPoolAnswer, PoolAnswer } from "./browser-pool-wire.ts";
import { managedBy } from "./managed-by.ts";
import { refreshesOnProfileUpdate } from "./pool-problems.ts";
import { presentSize } from "./pool-size.ts";

/** Present numbers of the pool's browsers, from the lease store. */
type PoolCounts = { acquired: number; available: number };
/** The ids of the objects that the pool's selectors refer to. */
type PoolRefs = Pick<ResolvedReferences, "profileId" | "extensionIds">;

/** A request names the destination by an object; the record has only its id or name. */
const telemetryAnswer = ({ export: exported, ...rest }: Telemetry) => {
  if (!exported?.otlp) return rest;
  const { enabled, destination } = exported.otlp;
  return { ...rest, export: { otlp: { enabled, destination: destination?.id ?? destination?.name } } };
};

const configAnswer = (pool: BrowserPool, name: string | undefined) => {
  const { spec } = pool;
  const telemetry = resolveTelemetry(spec.telemetry);
  const hasRefresh = spec.profile !== undefined || spec.refreshOnProfileUpdate !== undefined;
  return {
    ...spec,
    size: presentSize(pool),
    name,
    refreshOnProfileUpdate: hasRefresh ? refreshesOnProfileUpdate(spec) : undefined,
    telemetry: telemetry && telemetryAnswer(telemetry),
  };
};

/**
 * `pool`: as read from the API server. The config shows the configuration with its defaults: selectors as they were
 * given, telemetry in its resolved form, the viewport only when it was set.
 */
export const browserPoolAnswer = (pool: BrowserPool, counts: PoolCounts, refs: PoolRefs): BrowserPoolAnswer => {
  const name = wireName(pool);
  return toWire(PoolAnswer, {
    id: wireId(pool),
    name,
    region: pool.spec.region,
    managedBy: managedBy(pool),
    createdAt: createdAt(pool),
    acquiredCount: counts.acquired,
    availableCount: counts.available,
    startingCount: pool.status?.starting ?? 0,
    waitingCount: pool.status?.waiting ?? 0,
    conditions: pool.status?.conditions ?? [],
    extensionIds: refs.extensionIds,
    profileId: refs.profileId,
    browserPoolConfig: configAnswer(pool, name),
  });
};
