/**
 * Saves the profiles of browsers that end. An agent whose browser saves its profile keeps it until the operator has
 * fetched it (core/protocol/profile-save.ts).
 *
 *   collect ──► the agent packs ──► it is fetched and saved ──► an outcome ──► the browser's status says it ──► release: the agent ends
 *
 * The rounds of the browser ask for each step, again and again, and nothing else is remembered than what can be asked
 * again. So an operator that starts anew goes on where the last one was.
 */
import type { AgentPlace } from "../../core/leases/agent/agent-call.ts";
import type { SaveState } from "../../core/pools/observe/observed.ts";
import type { ProfileSaves } from "../../core/pools/on-demand/step-save.ts";
import { addressOf, poolLabel, savedProfile } from "../../core/pools/pod/pod.ts";
import type { ProfileSaveState } from "../../core/protocol/profile-save.ts";
import { AppError } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Lead } from "../../platform/kube/leader-election.ts";
import { keyOf, type Pod } from "../../platform/kube/objects.ts";
import { type Requeue, startWorkQueue, type WorkMeter } from "../../platform/kube/work-queue.ts";
import { ArchiveBroken, type ProfileClient } from "./profile-client.ts";
import { type Saved, saveProfile } from "./profile-versions.ts";

// One try to fetch a browser's profile from its agent and to save it.

type FetchProfileDeps = {
  kube: Kube;
  blobs: BlobStore;
  client: Pick<ProfileClient, "archive">;
  lead: Lead;
  /** ms since the epoch. */
  now: () => number;
  log: Logger;
};

/** Longest time to fetch and save an archive, ms. */
const saveMs = 5 * 60_000;

/** Where the agent of a pod listens. */
const agentOf = (pod: Pod): AgentPlace => ({
  browser: pod.metadata.uid,
  pod: pod.metadata.name,
  address: addressOf(pod),
});

const outcomeOf = (saved: Saved): SaveState => {
  if (saved.is === "gone") return { is: "failed", why: "the profile was deleted" };
  return saved.is === "overtaken" ? { is: "waiting" } : saved;
};

/** What follows from a save that failed. Its owner is told nothing of the service's inside. */
const afterError = (error: unknown): SaveState => {
  if (error instanceof AppError && error.code === "not_supported_here") return { is: "failed", why: error.message };
  const isTold = error instanceof ArchiveBroken || error instanceof AppError;
  return { is: "waiting", why: isTold ? error.message : "it could not be saved yet" };
};

/**
 * Saves the archive that the agent of this pod has packed. `waiting`: to be tried again. Only the profile that the pod
 * was made for is written to, whatever the agent says. Throws when `signal` is aborted, and when this replica does not
 * lead any more.
 */
const fetchProfile = async (
  { pod, packed }: { pod: Pod; packed: ProfileSaveState & { is: "packed" } },
  deps: FetchProfileDeps,
  signal: AbortSignal,
): Promise<SaveState> => {
  const profile = savedProfile(pod);
  if (profile?.uid !== packed.save_to)
    return { is: "failed", why: "its settings name another profile than when its pod was made" };
  const stop = AbortSignal.any([signal, deps.lead.signal]);
  const limit = AbortSignal.any([stop, AbortSignal.timeout(saveMs)]);
  try {
    const body = deps.client.archive(agentOf(pod), packed, limit);
    const endMs = deps.now() - packed.ended_ms_ago;
    return outcomeOf(await saveProfile({ profile, body, sha256: packed.sha256, endMs }, deps, limit));
  } catch (error) {
    stop.throwIfAborted();
    deps.lead.check();
    deps.log.warn({ err: error, pod: keyOf(pod.metadata) }, "a profile could not be saved; trying again");
    return afterError(error);
  }
};

/** Agents that are asked at the same time, most of which pack. */
const concurrency = 32;

/**
 * Archives that are fetched at the same time, in all and of one project: they share the operator's network and the
 * store.
 */
const mostFetched = 4;
const mostOfProject = 2;

/** Between two questions to an agent, ms. */
const againMs = 500;

/** After a save that failed, ms. */
const retryMs = 2000;

export type ProfileSavesDeps = FetchProfileDeps & {
  client: Pick<ProfileClient, "state" | "done">;
  meter?: WorkMeter | undefined;
};

type Known = { pod: Pod; state: SaveState; isReleased: boolean };

/** What an agent says before there is an archive to fetch, and when there will be none. */
const stateAtAgent = (state: Exclude<ProfileSaveState, { is: "packed" }>): SaveState => {
  if (state.is === "unused") return { is: "unused" };
  return state.is === "failed" ? { is: "failed", why: state.why } : { is: "waiting" };
};

/** A reason stays until there is another one: the next question may be under way. */
const isNews = (before: SaveState, state: SaveState): boolean =>
  state.is !== "waiting" || (state.why !== undefined && !(before.is === "waiting" && before.why === state.why));

/** The places for archives that are fetched. */
const createPlaces = () => {
  const taken = new Map<string, string>();
  const ofProject = (namespace: string): number => [...taken.values()].filter((one) => one === namespace).length;
  return {
    /** Calls `use` if a place is free, or returns undefined. */
    async within<T>({ metadata: { uid, namespace } }: Pod, use: () => Promise<T>): Promise<T | undefined> {
      if (taken.size >= mostFetched || ofProject(namespace) >= mostOfProject) return undefined;
      taken.set(uid, namespace);
      return use().finally(() => taken.delete(uid));
    },
  };
};

/** Asks the agent, and fetches its archive when that is packed and a place is free. */
const createStep = (deps: ProfileSavesDeps): ((pod: Pod, signal: AbortSignal) => Promise<SaveState>) => {
  const places = createPlaces();
  return async (pod, signal) => {
    deps.lead.check();
    const answer = await deps.client.state(agentOf(pod));
    if (answer.kind !== "ok") return { is: "waiting" };
    const { state } = answer;
    if (state.is !== "packed") return stateAtAgent(state);
    const fetched = await places.within(pod, () => fetchProfile({ pod, packed: state }, deps, signal));
    return fetched ?? { is: "waiting" };
  };
};

/** Starts the queue. The caller must call `stop`. */
export const startProfileSaves = (deps: ProfileSavesDeps): ProfileSaves => {
  const { client, lead, log } = deps;
  const known = new Map<string, Known>();
  const listeners = new Set<(ownerUid: string) => void>();
  const step = createStep(deps);

  const become = (one: Known, state: SaveState): Requeue | undefined => {
    if (isNews(one.state, state)) {
      one.state = state;
      for (const listener of listeners) listener(one.pod.metadata.labels?.[poolLabel] ?? "");
    }
    if (state.is === "waiting") return { requeueAfterMs: state.why === undefined ? againMs : retryMs };
    log[state.is === "failed" ? "warn" : "info"](
      { pod: keyOf(one.pod.metadata), ...state },
      "the save of a profile is over",
    );
    return undefined;
  };
  const releaseOne = async ({ pod }: Known): Promise<Requeue | undefined> => {
    lead.check();
    const answer = await client.done(agentOf(pod));
    return answer.kind === "ok" ? undefined : { requeueAfterMs: againMs };
  };
  const queue = startWorkQueue({
    name: "profile-saves",
    concurrency,
    log,
    meter: deps.meter,
    async work(podKey, signal) {
      const one = known.get(podKey);
      if (!one || lead.signal.aborted) return undefined;
      if (one.isReleased) return releaseOne(one);
      return one.state.is === "waiting" ? become(one, await step(one.pod, signal)) : undefined;
    },
  });
  const add = (pod: Pod): Known => {
    const key = keyOf(pod.metadata);
    const one: Known = known.get(key) ?? { pod, state: { is: "waiting" }, isReleased: false };
    if (!known.has(key)) queue.add(key);
    known.set(key, one);
    one.pod = pod;
    return one;
  };
  return {
    collect: (pod) => add(pod).state,
    release(pod) {
      const one = add(pod);
      if (one.isReleased) return;
      one.isReleased = true;
      queue.add(keyOf(pod.metadata));
    },
    stateOf: (podKey) => known.get(podKey)?.state,
    isSettled(podKey) {
      const one = known.get(podKey);
      return one !== undefined && (one.isReleased || one.state.is !== "waiting");
    },
    forget: (podKey) => void known.delete(podKey),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop: queue.stop,
  };
};
