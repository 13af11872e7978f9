/**
 * The condition `ProfileSaved` of a browser that saves its profile; pure. It is what the operator remembers of a save:
 * an agent ends when the condition says what became of it.
 *
 *   AtEnd ──the browser ends──► Saving ──► Saved │ Unchanged │ Superseded │ NotSaved
 *     ▲
 *   Held  ──the browser ends──► Discarded
 */

import type { Condition } from "../../../platform/kinds/conditions.ts";
import { type Browser, type BrowserStatus, isSaveHeld } from "../../model/browsers/browser.ts";
import type { Draft } from "../../reconcile/conditions.ts";
import type { Observed, SaveState } from "../observe/observed.ts";

/** The type of the condition. */
const profileSaved = "ProfileSaved";

const final = new Set(["Saved", "Unchanged", "Superseded", "NotSaved", "NotStarted", "Discarded"]);

const conditionOf = ({ status }: Browser): Condition | undefined =>
  status?.conditions.find(({ type }) => type === profileSaved);

/** Whether the browser saves its profile, and its status does not say yet what became of that. */
export const isSavePending = (browser: Browser): boolean =>
  browser.spec.profile?.saveChanges === true && !isSaveHeld(browser) && !isSaveSettled(browser);

/** Whether the browser's status says what became of its save. */
export const isSaveSettled = (browser: Browser): boolean => final.has(conditionOf(browser)?.reason ?? "");

const heldDraft = (phase: BrowserStatus["phase"]): Omit<Draft, "type"> =>
  phase === "Ended" || phase === "Failed"
    ? { status: false, reason: "Discarded", message: "the browser's state was not wanted any more" }
    : { status: false, reason: "Held", message: "the browser's state is thrown away unless its holder wants it" };

const outcomeDraft = (save: Exclude<SaveState, { is: "waiting" }>): Omit<Draft, "type"> => {
  switch (save.is) {
    case "saved":
      return {
        status: true,
        reason: "Saved",
        message: `the browser's state is version ${save.version} of its profile`,
      };
    case "unused":
      return { status: true, reason: "Unchanged", message: "no client has used the browser: its profile is as it was" };
    case "superseded":
      return { status: true, reason: "Superseded", message: "the profile has the state of a browser that ended later" };
    case "failed":
      return { status: false, reason: "NotSaved", message: `the browser's state was not saved: ${save.why}` };
  }
};

/** Why the pod is gone, or has ended, without its profile having been fetched. */
const whyLost = ({ pods, save }: Observed): string => {
  const ended = pods.find(({ state }) => state.is === "ended")?.state;
  const last = save?.is === "waiting" && save.why !== undefined ? ` (${save.why})` : "";
  if (ended?.is === "ended" && ended.reason !== "stopped") return `${ended.reason}: ${ended.message}`.slice(0, 500);
  return `its pod ended before that was done${last}`;
};

const pendingDraft = (browser: Browser, observed: Observed, phase: BrowserStatus["phase"]): Omit<Draft, "type"> => {
  const { pods, save, pendingCreations } = observed;
  if (save && save.is !== "waiting") return outcomeDraft(save);
  const hasPod = pods.some(({ state }) => state.is !== "ended") || pendingCreations > 0;
  const wasMade = browser.status?.pod !== undefined || pods.length > 0;
  if (phase === "Failed") return { status: false, reason: "NotStarted", message: "the browser has not started" };
  if (wasMade && !hasPod) return outcomeDraft({ is: "failed", why: whyLost(observed) });
  if (save || phase === "Ended") {
    const why = save?.why === undefined ? "" : `: ${save.why}`;
    return { status: false, reason: "Saving", message: `the browser has ended, and its state is being saved${why}` };
  }
  return { status: false, reason: "AtEnd", message: "the browser's state is saved when it ends" };
};

/** The condition after a round; none for a browser that saves nothing. */
export const saveDrafts = (browser: Browser, observed: Observed, phase: BrowserStatus["phase"]): Draft[] => {
  if (browser.spec.profile?.saveChanges !== true) return [];
  const before = conditionOf(browser);
  if (before && final.has(before.reason))
    return [{ type: profileSaved, status: before.status === "True", reason: before.reason, message: before.message }];
  return [{ type: profileSaved, ...(isSaveHeld(browser) ? heldDraft(phase) : pendingDraft(browser, observed, phase)) }];
};
