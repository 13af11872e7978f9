/**
 * All writes of one round. Their order makes a crash between two of them harmless:
 *   1. records in Redis, and deletions of pods (each safe to repeat),
 *   2. the status: its `nextStartTime` reserves the start that follows, so a restart can lose a start but never add one; its
 *      `leaseEpoch` is written before that epoch begins, so no epoch begins twice,
 *   3. new pods, and a new epoch.
 * Before each write, the replica checks that it still leads.
 */

import type { Logger } from "../../../platform/base/log.ts";
import { failedCreate } from "../../../platform/kinds/conditions.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { RecordEvent } from "../../../platform/kube/event-recorder.ts";
import type { Expectations } from "../../../platform/kube/expectations.ts";
import { hasReason, KubeError } from "../../../platform/kube/kube-error.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import type { ObjectGroups } from "../../../platform/kube/object-groups.ts";
import { keyOf, type Pod } from "../../../platform/kube/objects.ts";
import type { Reflector } from "../../../platform/kube/reflector.ts";
import { pods as podType } from "../../../platform/kube/resource-type.ts";
import type { LeaseStore, NewBrowser } from "../../leases/lease-store.ts";
import type { LeavingMarks } from "../../leases/leaving-marks.ts";
import { type RepairStore, retireUnknown } from "../../leases/repair-store.ts";
import type { BrowserPool, BrowserPoolStatus } from "../../model/pools/browser-pool.ts";
import { sessionConfigOf } from "../../model/settings/browser-config.ts";
import { deletePolicyParts } from "../../policies/policy-parts.ts";
import { type AgentKeys, newPodSuffix } from "../../protocol/agent-key.ts";
import type { SetupRequest, SetupRequests } from "../../setups/setup-requests.ts";
import type { Inspections } from "../inspect/inspections.ts";
import type { Observed, ObservedPod } from "../observe/observed.ts";
import type { PoolAction, PoolPlan } from "../plan/actions.ts";
import {
  addressOf,
  buildPod,
  endGraceSeconds,
  markPatch,
  type PodOwner,
  type PodSettings,
  savedProfileUid,
  saveGraceSeconds,
} from "../pod/pod.ts";
import { cpuPatch } from "../pod/pod-resources.ts";
import type { PoolSource } from "../pool-source.ts";
import { createAgentKey, deleteAgentKeys, type KeySweeps, sweepAgentKeys } from "./agent-key-secrets.ts";
import { type CloseDeps, closeRecord } from "./close-record.ts";
import { conditionNotes } from "./condition-events.ts";
import { type NoteProfileUse, noteUse } from "./note-use.ts";
import { mayBeCreated, type RefusedStarts } from "./refused-starts.ts";
import type { Resizes } from "./resizes.ts";
import type { StartCount } from "./start-count.ts";

export type ApplyDeps = CloseDeps & {
  kube: Kube;
  store: LeaseStore;
  leavingMarks: LeavingMarks;
  setupRequests: Pick<SetupRequests, "ask">;
  repairs: Pick<RepairStore, "establish" | "recovered" | "repair">;
  inspections: Pick<Inspections, "request">;
  lead: Lead;
  source: Pick<PoolSource, "meta" | "writeStatus" | "dropFinalizer">;
  pods: Reflector<Pod>;
  podsByOwner: Pick<ObjectGroups<Pod>, "of">;
  expectations: Expectations;
  dying: Set<string>;
  starts: Pick<StartCount, "begun" | "refused">;
  refusedStarts: Pick<RefusedStarts, "note" | "created" | "of">;
  podSettings: PodSettings;
  agentKeys: Pick<AgentKeys, "keyOf">;
  keySweeps: KeySweeps;
  resizes: Pick<Resizes, "done" | "refused" | "marked">;
  noteProfileUse: NoteProfileUse;
  record: RecordEvent;
  log: Logger;
};

type Act<Kind extends PoolAction["do"]> = Extract<PoolAction, { do: Kind }>;

const regarding = (pool: BrowserPool, { source }: ApplyDeps): PodOwner => ({ ...pool, ...source.meta });

/**
 * The pod is not created; the next round says so in the status, and tries again when it is time. Throws what is no
 * error of the API.
 */
const noteRefusal = (
  error: unknown,
  pool: PodOwner,
  { podName, isAsked }: { podName: string; isAsked: boolean },
  deps: ApplyDeps,
): void => {
  if (!(error instanceof KubeError)) throw error;
  const before = deps.refusedStarts.of(pool)?.count;
  const { message, count } = deps.refusedStarts.note(pool, { podName, isAsked }, error);
  if (count === before) return;
  deps.starts.refused();
  deps.log.warn({ err: error, pool: keyOf(pool.metadata), count }, "no browser is started");
  const note = `no browser is started: ${message}`;
  deps.record({ regarding: pool, type: "Warning", reason: failedCreate, note });
};

const createPod = async (observed: Observed, deps: ApplyDeps): Promise<void> => {
  const uid = observed.pool.metadata.uid;
  const pool = regarding(observed.pool, deps);
  const pod = buildPod(pool, { suffix: newPodSuffix(), profile: observed.profileVersion }, deps.podSettings);
  deps.lead.check();
  deps.expectations.expect(uid, pod.metadata.name);
  let isAsked = false;
  try {
    await createAgentKey(pod, deps);
    deps.lead.check();
    isAsked = true;
    const made = await deps.kube.create(podType, pod);
    deps.starts.begun(made.metadata.uid);
    deps.refusedStarts.created(uid);
    deps.pods.put(made);
  } catch (error) {
    // Without an answer the pod may be there: observe/confirm-creations.ts looks.
    if (isAsked && mayBeCreated(error)) deps.expectations.markUnanswered(uid, pod.metadata.name);
    else deps.expectations.creationObserved(uid, pod.metadata.name);
    deps.keySweeps.request(uid, pod.metadata.name);
    noteRefusal(error, pool, { podName: pod.metadata.name, isAsked }, deps);
  }
};

const create = async ({ count, paced }: Act<"create">, observed: Observed, deps: ApplyDeps): Promise<void> => {
  const uid = observed.pool.metadata.uid;
  const allowed = paced ? count : await deps.store.spendUnpaced(uid, count);
  await Promise.all(Array.from({ length: allowed }, () => createPod(observed, deps)));
};

/** Keeps the present configuration in Redis while a pod has it or is created with it; Redis may have forgotten it. */
const keepConfig = async (observed: Observed, plan: PoolPlan, deps: ApplyDeps): Promise<void> => {
  const { configHash, leases, pods, pool } = observed;
  if (leases.configs.includes(configHash)) return;
  if (!pods.some((pod) => pod.configHash === configHash) && !plan.actions.some((action) => action.do === "create"))
    return;
  deps.lead.check();
  await deps.store.keepConfig(pool.metadata.uid, configHash, JSON.stringify(sessionConfigOf(pool.spec)));
};

const browserOf = ({ pod, uid, name, configHash, browser }: ObservedPod): NewBrowser => ({
  id: uid,
  pod: name,
  address: browser?.address ?? addressOf(pod),
  configHash,
});

/**
 * Retires the browser unless it has a record: its silent agent may have answered an inspection a moment ago, and the
 * browser be in use.
 */
const isStillUnknown = ({ pod }: Act<"delete">, { pool, leases }: Observed, { repairs }: ApplyDeps): Promise<boolean> =>
  retireUnknown({ poolUid: pool.metadata.uid, epoch: leases.epoch, browser: browserOf(pod) }, repairs);

/**
 * 0 for a pod that has ended or whose node is gone: no kubelet confirms its end, so Kubernetes must not wait for that.
 */
const graceOf = ({ state, node, pod }: ObservedPod): number => {
  if (state.is === "ended" || node?.isGone) return 0;
  return savedProfileUid(pod) === undefined ? endGraceSeconds : saveGraceSeconds;
};

const deletePod = async (action: Act<"delete">, observed: Observed, deps: ApplyDeps): Promise<void> => {
  const { pod, why } = action;
  if (deps.dying.has(pod.uid)) return;
  if (why === "Unreachable" && !(await isStillUnknown(action, observed, deps))) return;
  deps.dying.add(pod.uid);
  try {
    await deps.kube.delete(podType, pod.pod.metadata, { uid: pod.uid, gracePeriodSeconds: graceOf(pod) });
  } catch (error) {
    deps.dying.delete(pod.uid);
    throw error;
  }
  deps.log.info({ pool: keyOf(observed.pool.metadata), pod: pod.name, why }, "browser destroyed");
};

/** An error is logged only: the loop does not depend on marks, and the next round tries again. */
const mark = async ({ do: what, pod }: Act<"mark" | "unmark">, { pool }: Observed, deps: ApplyDeps): Promise<void> => {
  const metadata = { uid: pod.uid, ...markPatch(what === "mark") };
  try {
    deps.pods.put(await deps.kube.patch(podType, pod.pod.metadata, { metadata }));
    deps.resizes.marked(pod.uid);
  } catch (error) {
    // The pod is gone, or another pod has its name.
    if (hasReason(error, "NotFound") || hasReason(error, "Conflict")) return;
    deps.log.warn({ err: error, pool: keyOf(pool.metadata), pod: pod.name }, "a pod could not be marked");
  }
};

/** An error harms no lease: the pod keeps what it asks for, and is tried again some times (resizes.ts). */
const resize = async ({ pod, cpu }: Act<"resize">, { pool }: Observed, deps: ApplyDeps): Promise<void> => {
  const patch = { metadata: { uid: pod.uid }, spec: cpuPatch(cpu) };
  try {
    deps.pods.put(await deps.kube.patch(podType, pod.pod.metadata, patch, { subresource: "resize" }));
    deps.resizes.done(pod.uid);
  } catch (error) {
    // The tries are those of this pod, so one that is gone does no harm.
    if (!deps.resizes.refused(pod.uid)) return;
    deps.log.warn({ err: error, pool: keyOf(pool.metadata), pod: pod.name, cpu }, "a pod could not be resized");
  }
};

const requestInspection = (
  { pod, epoch, leaving, afterMs, lane }: Act<"inspect">,
  { pool }: Observed,
  deps: ApplyDeps,
): void => {
  const browser = { ...browserOf(pod), ...(leaving && { leaving }) };
  deps.inspections.request({ pool: regarding(pool, deps), pod: pod.pod, browser, epoch, lane }, afterMs);
};

const setupRequestOf = ({ pod }: Act<"deliver">, { pool }: Observed, { source }: ApplyDeps): SetupRequest => ({
  browser: pod.uid,
  pod: pod.name,
  address: addressOf(pod.pod),
  namespace: pool.metadata.namespace,
  kind: source.meta.kind === "Browser" ? "Browser" : "BrowserPool",
  name: pool.metadata.name,
  uid: pool.metadata.uid,
  config: pod.configHash,
});

/** Deletes a drained pool's ConfigMaps, its agents' keys and its data in Redis, then removes its finalizer. */
const drop = async (observed: Observed, deps: ApplyDeps): Promise<void> => {
  const { metadata } = observed.pool;
  await deletePolicyParts(observed.pool, deps.kube);
  await deleteAgentKeys(observed.pool, deps);
  await deps.store.drop(metadata.uid);
  await deps.source.dropFinalizer(observed.pool);
};

const carryOut = async (action: PoolAction, observed: Observed, deps: ApplyDeps): Promise<void> => {
  const uid = observed.pool.metadata.uid;
  deps.lead.check();
  switch (action.do) {
    case "close":
      return closeRecord(uid, action, deps);
    case "raise":
      await deps.repairs.establish(uid, action.epoch);
      deps.log.info({ pool: keyOf(observed.pool.metadata), epoch: action.epoch }, "lease epoch begins");
      return;
    case "recovered":
      await deps.repairs.recovered(uid, action.epoch);
      return;
    case "inspect":
      return requestInspection(action, observed, deps);
    case "retire":
      await deps.store.retire(uid, { reason: action.why, ids: action.ids, count: action.count });
      return;
    case "leave":
    case "stay":
      await deps.leavingMarks[action.do](uid, action.ids, action.why);
      return;
    case "discard":
      await deps.store.retire(uid, { reason: "Discarded", unpaced: true, token: action.token });
      return;
    case "discardKept":
      await deps.store.retire(uid, { reason: "Kept", unpaced: true, kept: true });
      return;
    case "mark":
    case "unmark":
      return mark(action, observed, deps);
    case "resize":
      return resize(action, observed, deps);
    case "delete":
      return deletePod(action, observed, deps);
    case "deliver":
      return deps.setupRequests.ask(setupRequestOf(action, observed, deps));
    case "use":
      return noteUse(action, observed, deps);
    case "create":
      return create(action, observed, deps);
    case "forfeit":
      await deps.store.spendUnpaced(uid, action.count);
      return;
    case "drain":
      await deps.store.drain(uid, { evenIfLeased: true });
      return;
    case "undrain":
      return deps.store.undrain(uid);
    case "drop":
      return drop(observed, deps);
    case "note":
      deps.record({
        regarding: regarding(observed.pool, deps),
        type: action.type,
        reason: action.reason,
        note: action.note,
      });
      return;
  }
};

const writeStatus = async (observed: Observed, status: BrowserPoolStatus, deps: ApplyDeps): Promise<void> => {
  const change = await deps.source.writeStatus(observed, status, deps.lead.check);
  if (!change) return;
  for (const note of conditionNotes(change)) deps.record({ regarding: regarding(observed.pool, deps), ...note });
};

/** Configurations that no record, no pod and no future pod uses. */
const unusedConfigs = ({ leases, pods, configHash }: Observed): string[] => {
  const used = new Set([
    configHash,
    ...leases.browsers.map(({ config }) => config),
    ...pods.map((pod) => pod.configHash),
  ]);
  return leases.configs.filter((hash) => !used.has(hash));
};

/** Before its first epoch a pool has had no pod, and so no key: a caller of an on-demand browser waits for this. */
const sweepKeys = async (pool: BrowserPool, deps: ApplyDeps): Promise<void> => {
  if (pool.status?.leaseEpoch === undefined) deps.keySweeps.take(pool.metadata.uid);
  else await sweepAgentKeys(pool, deps);
};

const last: readonly PoolAction["do"][] = ["create", "drop", "raise"];

/** One action for each browser, each with a call that may take seconds: they run side by side. */
const many: readonly PoolAction["do"][] = ["close", "mark", "unmark", "resize", "delete"];

/** Carries out a plan. Throws when a write fails or when this replica no longer leads; the next round plans anew. */
export const applyPlan = async (observed: Observed, plan: PoolPlan, deps: ApplyDeps): Promise<void> => {
  const isLast = ({ do: kind }: PoolAction): boolean => last.includes(kind);
  const isMany = ({ do: kind }: PoolAction): boolean => many.includes(kind);
  const sideBySide = async (...kinds: PoolAction["do"][]): Promise<void> => {
    await Promise.all(
      plan.actions.filter(({ do: kind }) => kinds.includes(kind)).map((one) => carryOut(one, observed, deps)),
    );
  };
  await keepConfig(observed, plan, deps);
  await sideBySide("close");
  for (const action of plan.actions.filter((action) => !isLast(action) && !isMany(action)))
    await carryOut(action, observed, deps);
  await sideBySide("mark", "unmark", "resize", "delete");
  await sweepKeys(observed.pool, deps);
  deps.lead.check();
  await deps.store.dropConfigs(observed.pool.metadata.uid, unusedConfigs(observed));
  const drops = plan.actions.some((action) => action.do === "drop");
  if (!drops) await writeStatus(observed, plan.status, deps);
  for (const action of plan.actions.filter(isLast)) await carryOut(action, observed, deps);
};
