import type { Room } from "../../model/pools/autoscale/decide-size.ts";
import { isBlank } from "../../model/pools/blank-pool.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { poolProblems } from "../../model/pools/pool-problems.ts";
import { promisedSize } from "../../model/pools/pool-size.ts";
import {
  noOnDemandRoom,
  onDemandRoom,
  poolAboveCap,
  roomOfPool,
  type SessionUse,
} from "../../model/sessions/session-room.ts";
import { type BrowserFeature, featureProblems } from "../../model/settings/browser-features.ts";
import { type ReferencedObjects, referenceProblems, referencesOf } from "../../model/settings/references.ts";
import { notSupportedHere, specProblemsText } from "../../reconcile/conditions.ts";
import type { Refusal } from "./observed.ts";

export type PoolLimits = {
  /** The largest allowed sum of all pools' sizes (LIMIT-2). */
  pooledSessions: number;
  /** The largest allowed sum of the sizes of a project's pools of blank browsers, which no other limit bounds. */
  blankBrowsers: number;
  /** The largest allowed fill rate, percent of the pool a minute. */
  fillRatePerMinute: number;
};

export type RefusalInput = {
  pool: BrowserPool;
  /** All pools of the organization, this one included. */
  pools: BrowserPool[];
  /** Sizes that were accepted last, by uid; newer than the pools' statuses. */
  acceptedSizes: ReadonlyMap<string, number>;
  limits: PoolLimits;
  /** What browsers can be given here. */
  features: readonly BrowserFeature[];
  /** The sessions of the project without this pool. */
  use: SessionUse;
  /** The objects of the pool's namespace that it may refer to. */
  objects: ReferencedObjects;
};

const nameOf = (pool: BrowserPool): string => pool.spec.name ?? pool.metadata.name;

type AcceptedSize = (pool: BrowserPool) => number | undefined;

/**
 * Creation times are whole seconds: of two pools created in one second, the pool that was accepted first counts as
 * older.
 */
const isOlder = (a: BrowserPool, b: BrowserPool, acceptedSize: AcceptedSize): boolean => {
  const age = (pool: BrowserPool): string =>
    [pool.metadata.creationTimestamp, acceptedSize(pool) === undefined ? 1 : 0, pool.metadata.uid].join(" ");
  return age(a) < age(b);
};

/** Why the references of a spec can't be followed: to what there is not, or to a name that several objects have. */
const refusalOfReferences = ({ spec }: BrowserPool, objects: ReferencedObjects): Refusal | undefined => {
  const problems = referenceProblems(referencesOf(spec), objects);
  const [first] = problems;
  if (!first) return undefined;
  const message = specProblemsText(problems);
  return { reason: problems.some(({ is }) => is === "missing") ? "ReferenceNotFound" : "ReferenceAmbiguous", message };
};

/** Settings with problems of their own, and settings that this installation can't carry out. */
const refusalOfSettings = ({ spec }: BrowserPool, features: readonly BrowserFeature[]): Refusal | undefined => {
  const problems = poolProblems(spec);
  if (problems.length > 0) return { reason: "InvalidSpec", message: specProblemsText(problems) };
  const unsupported = featureProblems(spec, features);
  return unsupported.length > 0 ? notSupportedHere(unsupported) : undefined;
};

/**
 * Why the operator refuses a spec that the API server accepted; pure. Of two pools with one name, the older keeps it
 * (HTTP-16).
 */
export const refusalOf = ({
  pool,
  pools,
  acceptedSizes,
  limits,
  use,
  objects,
  features,
}: RefusalInput): Refusal | undefined => {
  const acceptedSize: AcceptedSize = ({ metadata, status }) => acceptedSizes.get(metadata.uid) ?? status?.acceptedSize;
  const others = pools.filter(({ metadata }) => metadata.uid !== pool.metadata.uid && !metadata.deletionTimestamp);
  const rival = others.find(
    (other) =>
      other.metadata.namespace === pool.metadata.namespace &&
      nameOf(other) === nameOf(pool) &&
      isOlder(other, pool, acceptedSize),
  );
  if (rival)
    return { reason: "NameTaken", message: `spec.name: ${nameOf(pool)} is the name of pool ${rival.metadata.name}` };

  const settingsRefusal = refusalOfSettings(pool, features) ?? refusalOfReferences(pool, objects);
  if (settingsRefusal) return settingsRefusal;

  // A blank browser costs its node little when it starts.
  if (!isBlank(pool) && pool.spec.fillRatePerMinute > limits.fillRatePerMinute) {
    const message = `spec.fillRatePerMinute: ${pool.spec.fillRatePerMinute} is above the organization's cap of ${limits.fillRatePerMinute}`;
    return { reason: "FillRateAboveCap", message };
  }
  const accepted = acceptedSize(pool) ?? 0;
  if (isBlank(pool))
    return refusalOfBlank(pool, { sum: sumOf(blankBeside(pool, others), acceptedSize), accepted, limits });
  return refusalOfSize(pool, { sum: sumOf(others.filter(isPooled), acceptedSize), accepted, limits, use });
};

const isPooled = (pool: BrowserPool): boolean => !isBlank(pool);

/** The other pools of blank browsers of the same project. */
const blankBeside = ({ metadata }: BrowserPool, others: BrowserPool[]): BrowserPool[] =>
  others.filter((other) => isBlank(other) && other.metadata.namespace === metadata.namespace);

const sizeField = ({ autoscale }: BrowserPool["spec"]): string => (autoscale ? "spec.autoscale.min" : "spec.size");

/** As `refusalOfSize`, for blank browsers: they have a limit of their own, in each project. */
const refusalOfBlank = (
  { spec }: BrowserPool,
  { sum, accepted, limits }: Omit<SizeLimits, "use">,
): Refusal | undefined => {
  const size = promisedSize(spec);
  if (size <= accepted || sum + size <= limits.blankBrowsers) return undefined;
  const message = `${sizeField(spec)}: ${size} with ${sum} of other pools exceeds the ${limits.blankBrowsers} blank browsers that a project may have here`;
  return { reason: "PooledSessionsLimit", message };
};

const sumOf = (pools: BrowserPool[], acceptedSize: AcceptedSize): number =>
  pools.reduce((total, pool) => total + (acceptedSize(pool) ?? 0), 0);

type SizeLimits = Pick<RefusalInput, "limits" | "use"> & { sum: number; accepted: number };

/**
 * Whether there is room for the size that the spec promises. `sum`: of the other pools; `accepted`: what the pool has.
 */
const refusalOfSize = ({ spec }: BrowserPool, { sum, accepted, limits, use }: SizeLimits): Refusal | undefined => {
  const size = promisedSize(spec);
  const field = sizeField(spec);
  // With autoscale, a limit that was lowered later only keeps the pool from growing: refused, it would not shrink
  // either.
  const isHeld = spec.autoscale !== undefined && size <= accepted;
  if (!isHeld && sum + size > limits.pooledSessions) {
    const message = `${field}: ${size} with ${sum} of other pools exceeds the organization's limit of ${limits.pooledSessions} pooled sessions`;
    return { reason: "PooledSessionsLimit", message };
  }
  // A cap that was lowered later takes no browser from a pool.
  const aboveCap = size > accepted && poolAboveCap(size, use);
  return aboveCap ? { reason: "SessionsLimit", message: `${field}: ${size} ${aboveCap}` } : undefined;
};

/** The largest size that the limits leave to a pool now; pure. */
export const roomFor = ({
  pool,
  pools,
  acceptedSizes,
  limits,
  use,
}: Pick<RefusalInput, "pool" | "pools" | "acceptedSizes" | "limits" | "use">): Room => {
  const { uid } = pool.metadata;
  const others = pools.filter(({ metadata }) => metadata.uid !== uid && !metadata.deletionTimestamp);
  const acceptedSize: AcceptedSize = ({ metadata, status }) => acceptedSizes.get(metadata.uid) ?? status?.acceptedSize;
  if (isBlank(pool)) {
    const size = limits.blankBrowsers - sumOf(blankBeside(pool, others), acceptedSize);
    return { size: Math.max(0, size), limit: "PooledSessionsLimit" };
  }
  const sum = sumOf(others.filter(isPooled), acceptedSize);
  const [organization, project] = [limits.pooledSessions - sum, roomOfPool(use)];
  return organization <= project
    ? { size: Math.max(0, organization), limit: "PooledSessionsLimit" }
    : { size: Math.max(0, project), limit: "SessionsLimit" };
};

/**
 * Why the operator does not start an on-demand browser, seen as a pool of one; pure. One that was accepted keeps its
 * room and its browser, and only settings that were changed since then are refused. A refused one starts as soon as
 * there is room.
 */
export const browserRefusal = (
  browser: BrowserPool,
  { acceptedSizes, use, objects, features }: Pick<RefusalInput, "acceptedSizes" | "use" | "objects" | "features">,
): Refusal | undefined => {
  const { metadata, spec, status } = browser;
  if (spec.size === 0) return undefined;
  const settingsRefusal = refusalOfSettings(browser, features);
  if (settingsRefusal || (acceptedSizes.get(metadata.uid) ?? status?.acceptedSize)) return settingsRefusal;
  const referencesRefusal = refusalOfReferences(browser, objects);
  if (referencesRefusal) return referencesRefusal;
  const room = onDemandRoom(use);
  if (room.project > 0 && room.organization > 0) return undefined;
  return { reason: "SessionsLimit", message: noOnDemandRoom(use, room) };
};
