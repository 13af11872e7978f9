/** Builders of what a round of the pool loop sees, for tests of its pure parts. */

import type { BrowserRecord } from "../../src/core/leases/records.ts";
import {
  type BrowserPool,
  BrowserPoolSpec,
  BrowserPoolStatus,
  browserPoolKind,
} from "../../src/core/model/pools/browser-pool.ts";
import type { PoolScaling } from "../../src/core/pools/observe/autoscaling.ts";
import type { LastInspection, Observed, ObservedNode, ObservedPod } from "../../src/core/pools/observe/observed.ts";

/** The time of a round, ms since the epoch: any whole second. */
export const nowMs = Date.parse("2030-01-01T00:00:00Z");

const currentHash = "current";

type Spec = Partial<BrowserPoolSpec>;

export const aPool = (
  spec: Spec = {},
  status: Partial<BrowserPoolStatus> = {},
  metadata: Partial<BrowserPool["metadata"]> = {},
): BrowserPool => ({
  apiVersion: `${browserPoolKind.group}/${browserPoolKind.version}`,
  kind: browserPoolKind.kind,
  metadata: { name: "pool", namespace: "project", uid: "pool-uid", resourceVersion: "1", generation: 1, ...metadata },
  spec: BrowserPoolSpec.parse({ ...(spec.autoscale ? {} : { size: 1 }), ...spec }),
  status: BrowserPoolStatus.parse({ conditions: [], leaseEpoch: 1, ...status }),
});

export type PodOptions = {
  state: ObservedPod["state"];
  browser?: BrowserRecord["state"];
  configHash?: string;
  /** The epoch under which its agent was asked last; by default that of its last inspection. */
  askedUnder?: number;
  /** Since when its browser was leased when Redis last knew, ms. */
  leasedSinceMs?: number;
  /** How long ago it was created, and came into its state, ms. */
  ageMs?: number;
  /** The last inspection; by default just now, for a warm browser none. */
  inspection?: Partial<LastInspection> | "never";
  /** When its deletion is over by its grace, relative to now, ms; below 0 it should be gone. */
  deletedInMs?: number;
  /** Failed starts of its pool when it was made. */
  failedStarts?: number;
  /** Its node, `node-1`, if it is not a well one. */
  node?: Partial<ObservedNode>;
  /** The reason of the leaving mark in its record, and how long it is there, ms. */
  leaving?: string;
  leavingForMs?: number;
  /** New pods get another image or template. */
  isOutdated?: boolean;
  setup?: ObservedPod["setup"];
  /** Its pod shows that it is in use. */
  marked?: boolean;
  /** Its browser saves its profile. */
  saves?: boolean;
  /** What its container asks for of the processor, and what it is to ask for idle and in use. */
  cpu?: { present: string; idle: string; inUse: string };
  /** It was resized in vain a moment ago. */
  isRefused?: boolean;
  /** What its pod's condition PodScheduled says, since when, relative to now, ms. */
  scheduled?: { status: "True" | "False"; inMs?: number };
};

const iso = (ms: number): string => new Date(ms).toISOString();

export const aRecord = (
  id: string,
  state: BrowserRecord["state"],
  ageMs = 0,
  more: Partial<BrowserRecord> = {},
): BrowserRecord => ({
  id,
  pod: `pod-${id}`,
  address: "127.0.0.9:7510",
  config: currentHash,
  seq: 1,
  state,
  since: nowMs - ageMs,
  ...(state === "leased" && { session: `session-${id}` }),
  ...more,
});

const aNode = (node: Partial<ObservedNode> = {}): ObservedNode => ({
  name: "node-1",
  leaving: undefined,
  isLost: false,
  isGone: false,
  ...node,
});

const scheduledCondition = ({ status, inMs = 0 }: NonNullable<PodOptions["scheduled"]>) => ({
  conditions: [{ type: "PodScheduled", status, lastTransitionTime: iso(nowMs + inMs) }],
});

export const aPod = (uid: string, options: PodOptions): ObservedPod => {
  const { state, browser, configHash = currentHash, ageMs = 0, deletedInMs, failedStarts = 0 } = options;
  const {
    inspection = state.is === "warm" ? "never" : {},
    node,
    leaving,
    leavingForMs = 0,
    scheduled,
    marked = false,
    isOutdated = false,
    saves = false,
    setup,
    askedUnder = inspection === "never" ? 0 : (inspection.epoch ?? 1),
    leasedSinceMs,
    cpu,
    isRefused = false,
  } = options;
  const containers = cpu ? [{ name: "agent", resources: { requests: { cpu: cpu.present } } }] : [];
  return {
    askedUnder,
    leasedSinceMs,
    mayResize: !isRefused,
    uid,
    setup,
    name: `pod-${uid}`,
    configHash,
    state,
    isOutdated,
    inspection:
      inspection === "never" ? undefined : { atMs: nowMs, epoch: 1, failures: 0, failingSinceMs: 0, ...inspection },
    browser: browser && aRecord(uid, browser, ageMs, leaving ? { leaving, leaving_since: nowMs - leavingForMs } : {}),
    node: scheduled?.status === "False" ? undefined : aNode(node),
    pod: {
      ...(scheduled && { status: scheduledCondition(scheduled) }),
      ...(scheduled?.status !== "False" && { spec: { containers, nodeName: "node-1" } }),
      metadata: {
        name: `pod-${uid}`,
        namespace: "project",
        uid,
        resourceVersion: "1",
        creationTimestamp: iso(nowMs - ageMs),
        annotations: {
          "browserpool.dev/failed-starts": `${failedStarts}`,
          ...(cpu && { "browserpool.dev/idle-cpu": cpu.idle, "browserpool.dev/in-use-cpu": cpu.inUse }),
        },
        labels: {
          ...(marked && { "browserpool.dev/leased": "true" }),
          ...(saves && { "browserpool.dev/saves-profile": "profile" }),
        },
        ...(deletedInMs !== undefined && { deletionTimestamp: iso(nowMs + deletedInMs) }),
      },
    },
  };
};

/** The size that autoscale gives a pool. */
export const aScaling = (scaling: Partial<PoolScaling> = {}): PoolScaling => ({
  min: 0,
  max: 10,
  size: 1,
  reason: "Demand",
  fillBase: 10,
  recent: { steps: [], now: 1 },
  againMs: undefined,
  resized: undefined,
  ...scaling,
});

export type ObservedOptions = Partial<Omit<Observed, "leases">> & { leases?: Partial<Observed["leases"]> };

/** What is observed of a pool: the records are those of the pods, and `leases.browsers` on top. */
export const anObserved = ({ leases = {}, pods = [], ...rest }: ObservedOptions = {}): Observed => ({
  pool: aPool(),
  pods,
  foreign: [],
  awaitsSave: false,
  save: undefined,
  pendingCreations: 0,
  refusedCreation: undefined,
  configHash: currentHash,
  profileVersion: undefined,
  refusal: undefined,
  scaling: undefined,
  waitsFor: undefined,
  agentEpoch: 0,
  ended: undefined,
  drainDeadlineMs: 600_000,
  fleet: pods.length,
  disturbedAtMs: nowMs - 3_600_000,
  ...rest,
  leases: {
    epoch: 1,
    recoveringSinceMs: undefined,
    isSameServer: true,
    nowMs,
    waiting: 0,
    unpaced: 0,
    draining: false,
    configs: [currentHash],
    ...leases,
    browsers: [...pods.flatMap(({ browser }) => browser ?? []), ...(leases.browsers ?? [])],
  },
});

const cordoned = { leaving: "it is cordoned" };
const silent = { isLost: true };
const givenUp = { failures: 9, failingSinceMs: nowMs - 60_000 };

/** One pod of every kind that a round can meet, by its name. */
export const podKinds = {
  starting: { state: { is: "starting" } },
  late: { state: { is: "starting" }, ageMs: 200_000 },
  warm: { state: { is: "warm" } },
  unreachable: { state: { is: "warm" }, inspection: givenUp },
  idle: { state: { is: "known" }, browser: "idle" },
  outdated: { state: { is: "known" }, browser: "idle", configHash: "old" },
  leased: { state: { is: "known" }, browser: "leased" },
  releasing: { state: { is: "known" }, browser: "releasing" },
  suspect: { state: { is: "known" }, browser: "suspect" },
  retired: { state: { is: "known" }, browser: "retired" },
  "unready idle": { state: { is: "unready" }, browser: "idle" },
  "unready leased": { state: { is: "unready" }, browser: "leased" },
  "crashed idle": { state: { is: "ended", reason: "browser_crashed", message: "signal 9" }, browser: "idle" },
  "crashed leased": { state: { is: "ended", reason: "browser_crashed", message: "signal 9" }, browser: "leased" },
  "timed out": { state: { is: "ended", reason: "timeout", message: "idle" }, browser: "leased" },
  "failed start": { state: { is: "ended", reason: "start_failed", message: "no such program" } },
  "setup refused": { state: { is: "ended", reason: "setup_refused", message: "no such file" } },
  "old setup refused": { state: { is: "ended", reason: "setup_refused", message: "no such file" }, configHash: "old" },
  stopped: { state: { is: "ended", reason: "stopped", message: "told to stop" } },
  terminating: { state: { is: "terminating" }, deletedInMs: 5000 },
  "terminating retired": { state: { is: "terminating" }, browser: "retired", deletedInMs: 5000 },
  "terminating leased": { state: { is: "terminating" }, browser: "leased", deletedInMs: 5000 },
  "evicted idle": { state: { is: "evicted" }, browser: "idle", deletedInMs: 600_000 },
  "evicted leased": { state: { is: "evicted" }, browser: "leased", deletedInMs: 600_000 },
  "evicted unknown": { state: { is: "evicted" }, deletedInMs: 600_000, inspection: "never" },
  "evicted retired": { state: { is: "terminating" }, browser: "retired", deletedInMs: 600_000 },
  "evicted and lost": { state: { is: "evicted" }, browser: "leased", deletedInMs: -60_000 },
  "cordoned starting": { state: { is: "starting" }, node: cordoned },
  "cordoned warm": { state: { is: "warm" }, node: cordoned },
  "cordoned idle": { state: { is: "known" }, browser: "idle", node: cordoned },
  "cordoned leased": { state: { is: "known" }, browser: "leased", node: cordoned },
  "cordoned suspect": { state: { is: "known" }, browser: "suspect", node: cordoned },
  "marked leased": { state: { is: "known" }, browser: "leased", node: cordoned, leaving: "NodeLeaving" },
  "marked and welcome": { state: { is: "known" }, browser: "leased", leaving: "NodeLeaving" },
  "silent leased": { state: { is: "unready" }, browser: "leased", node: silent, inspection: givenUp },
  "long leased": { state: { is: "known" }, browser: "leased", ageMs: 5000 },
  "long leased, marked": { state: { is: "known" }, browser: "leased", ageMs: 5000, marked: true },
  "just idle, marked": { state: { is: "known" }, browser: "idle", marked: true },
  "long idle, marked": { state: { is: "known" }, browser: "idle", ageMs: 5000, marked: true },
  "old idle": { state: { is: "known" }, browser: "idle", isOutdated: true },
  "old leased": { state: { is: "known" }, browser: "leased", isOutdated: true },
  "old leased, marked": { state: { is: "known" }, browser: "leased", isOutdated: true, leaving: "PodOutdated" },
  "leased, marked as old": { state: { is: "known" }, browser: "leased", leaving: "PodOutdated" },
  "waiting for a node": { state: { is: "starting" }, ageMs: 900_000, scheduled: { status: "False" } },
  "terminating unseen": { state: { is: "terminating" } },
  "lost with its node": { state: { is: "terminating" }, deletedInMs: -60_000 },
} as const satisfies Record<string, PodOptions>;

export type PodKind = keyof typeof podKinds;

/** Pods of these kinds; their uids are `<kind>-<place>`. */
export const podsOf = (...kinds: PodKind[]): ObservedPod[] =>
  kinds.map((kind, place) => aPod(`${kind.replaceAll(" ", "-")}-${place}`, podKinds[kind]));
