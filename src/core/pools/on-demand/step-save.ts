import type { Logger } from "../../../platform/base/log.ts";
import type { RecordEvent } from "../../../platform/kube/event-recorder.ts";
import { keyOf, type Pod } from "../../../platform/kube/objects.ts";
import type { Browser } from "../../model/browsers/browser.ts";
import type { SaveState } from "../observe/observed.ts";
import { isOver } from "../observe/pod-state.ts";
import { type PodOwner, savedProfileUid } from "../pod/pod.ts";
import { isSavePending } from "./save-condition.ts";

/** Saves the profiles of browsers that end. */
export type ProfileSaves = {
  /** Saves the profile of this pod's browser in the background; returns how that stands. */
  collect(pod: Pod): SaveState;
  /** Lets the agent end: its browser's status tells the outcome. */
  release(pod: Pod): void;
  /** How the save of the pod with this key (`namespace/name`) stands; undefined when nobody has asked for it. */
  stateOf(podKey: string): SaveState | undefined;
  /** Whether the save of that pod is over, whatever became of it. */
  isSettled(podKey: string): boolean;
  forget(podKey: string): void;
  /**
   * Calls `listener` with the uid of a browser's object when there is something to tell. Returns a function that
   * unsubscribes.
   */
  onChange(listener: (ownerUid: string) => void): () => void;
  stop(): Promise<void>;
};

export type StepSaveDeps = { saves: ProfileSaves; dying: ReadonlySet<string>; record: RecordEvent; log: Logger };

/**
 * Asks for the next step of a browser's save, if it has one, and returns how that stands. `pods`: the browser's own.
 * The agent is released once the browser's status tells what became of the save.
 */
export const stepSave = (browser: Browser, pods: Pod[], { saves, dying }: StepSaveDeps): SaveState | undefined => {
  const { namespace } = browser.metadata;
  const saver = pods.find((pod) => savedProfileUid(pod) !== undefined);
  const name = browser.status?.pod;
  const known = name === undefined ? undefined : saves.stateOf(keyOf({ namespace, name }));
  if (!saver || isOver(saver)) {
    if (name !== undefined && !isSavePending(browser)) saves.forget(keyOf({ namespace, name }));
    return known;
  }
  if (!saver.metadata.deletionTimestamp && !dying.has(saver.metadata.uid)) return known;
  if (isSavePending(browser)) return saves.collect(saver);
  saves.release(saver);
  return undefined;
};

/** Tells of a save that was lost with the browser's object, which then has no status any more. */
export const noteLostSave = (browser: Browser, owner: PodOwner, { saves, record, log }: StepSaveDeps): void => {
  const { metadata, status } = browser;
  if (!isSavePending(browser) || status?.phase === "Failed" || status?.pod === undefined) return;
  const key = keyOf({ namespace: metadata.namespace, name: status.pod });
  const state = saves.stateOf(key);
  saves.forget(key);
  if (state && state.is !== "waiting" && state.is !== "failed") return;
  const why = state?.why ?? "its pod ended before that was done";
  const note = `the browser's state was not saved: ${why}`;
  log.warn({ browser: keyOf(metadata), why }, "a profile was not saved");
  record({ regarding: owner, type: "Warning", reason: "ProfileNotSaved", note });
};
