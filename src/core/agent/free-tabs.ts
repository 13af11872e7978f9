/**
 * Closes the tabs that do not answer: a page that loops, that crashed, or that waits for a dialog. Whoever gets the
 * browser next would wait for them for ever. The pages notice nothing of being asked.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";

/** For a command that Chromium answers itself, ms. */
const timeoutMs = 2000;

/** How long Chromium gets to close a tab, ms, and the time between two looks. */
const closeMs = 2000;
const lookMs = 50;

/** `isFree`: every tab that is left answers. */
export type FreedTabs = { closed: number; isFree: boolean };

const answers = async (cdp: CdpConnection, targetId: string, answerMs: number): Promise<boolean> => {
  const call = { timeoutMs: answerMs };
  const attached = await cdp.send("Target.attachToTarget", { targetId, flatten: true }, call).catch(() => undefined);
  if (!attached) return false;
  const { sessionId } = attached;
  try {
    await cdp.send("Runtime.evaluate", { expression: "0" }, { sessionId, timeoutMs: answerMs });
    return true;
  } catch {
    return false;
  } finally {
    cdp.send("Target.detachFromTarget", { sessionId }, { timeoutMs }).catch(() => undefined);
  }
};

const documentsOf = async (cdp: CdpConnection) => {
  const { targetInfos } = await cdp.send("Target.getTargets", {}, { timeoutMs });
  return targetInfos.filter(({ type }) => type === "page" || type === "iframe");
};

const areGone = async (cdp: CdpConnection, ids: Set<string>): Promise<boolean> => {
  for (let waitedMs = 0; waitedMs <= closeMs; waitedMs += lookMs) {
    if (!(await documentsOf(cdp)).some(({ targetId }) => ids.has(targetId))) return true;
    await sleep(lookMs);
  }
  return false;
};

/**
 * `answerMs`: how long a page may take to answer. A frame of another process that does not answer can't be closed
 * alone: `isFree` is false then. Rejects when Chromium itself does not answer.
 */
export const freeTabs = async (cdp: CdpConnection, answerMs: number): Promise<FreedTabs> => {
  const documents = await documentsOf(cdp);
  const answered = await Promise.all(documents.map(({ targetId }) => answers(cdp, targetId, answerMs)));
  // One that was closed or navigated to another process meanwhile is no tab any more.
  const present = new Set((await documentsOf(cdp)).map(({ targetId }) => targetId));
  const stuck = documents.filter(({ targetId }, index) => !answered[index] && present.has(targetId));
  if (stuck.length === 0) return { closed: 0, isFree: true };
  const pages = stuck.filter(({ type }) => type === "page");
  const left = documents.filter((document) => document.type === "page" && !stuck.includes(document));
  // A browser without any tab ends.
  if (left.length === 0) await cdp.send("Target.createTarget", { url: "about:blank" }, { timeoutMs });
  await Promise.all(
    pages.map(({ targetId }) => cdp.send("Target.closeTarget", { targetId }, { timeoutMs }).catch(() => undefined)),
  );
  const isFree = await areGone(cdp, new Set(stuck.map(({ targetId }) => targetId)));
  return { closed: pages.length, isFree };
};
