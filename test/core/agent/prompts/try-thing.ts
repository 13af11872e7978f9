/** Tries what a browser asks its person about, as a client that answers nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CdpConnection } from "../../../../src/platform/cdp/cdp-connection.ts";
import type { PromptSite } from "./prompt-site.ts";
import type { Thing } from "./things.ts";

/** A page that has not answered after this takes nothing without an answer, ms. */
const patienceMs = 5000;
/** What a page is not told after this waits for an answer, ms. */
const tellMs = 3000;
/** Time for what a prompt shows, ms. */
const settleMs = 500;

/**
 * `told`: what the page was told, or why it did not load; "waits" when it was told nothing. `goesOn`: the page runs its
 * scripts, takes a click and is drawn. `canLeave`: another address can be opened in the tab.
 */
export type Tried = { told: string; goesOn: boolean; canLeave: boolean };

/** What `work` resolves with; undefined when it fails or takes too long. */
const inTime = async <T>(work: Promise<T>, ms = patienceMs): Promise<T | undefined> =>
  Promise.race([work.catch(() => undefined), sleep(ms, undefined, { ref: false })]);

/** Runs a thing's script; its end is `window.told`. */
const scriptOf = (run: string): string => `(async () => {
  window.told = "waits";
  try { window.told = await (async () => { ${run} })() ?? "returns"; }
  catch { window.told = "refused"; }
})(), 0`;

/** A tab of a client: what is done in it. */
const openTab = async (cdp: CdpConnection) => {
  const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  const call = { sessionId, timeoutMs: 60_000 };
  await cdp.send("Page.enable", {}, call);
  let hasDialog = false;
  const dialog = Promise.withResolvers<void>();
  cdp.onEvent(({ method, sessionId: of }) => {
    if (of !== sessionId || method !== "Page.javascriptDialogOpening") return;
    hasDialog = true;
    dialog.resolve();
  });
  const evaluate = async (expression: string, userGesture = false): Promise<unknown> =>
    (await cdp.send("Runtime.evaluate", { expression, userGesture, returnByValue: true }, call)).result.value;
  const click = async (button: "left" | "right"): Promise<true> => {
    for (const type of ["mousePressed", "mouseReleased"] as const)
      await cdp.send("Input.dispatchMouseEvent", { type, x: 150, y: 5, button, clickCount: 1 }, call);
    return true;
  };
  return {
    evaluate,
    click,
    hasDialog: () => hasDialog,
    /** Resolves when there is a dialog. */
    dialog: dialog.promise,
    navigate: async (url: string): Promise<string> => {
      const { errorText } = await cdp.send("Page.navigate", { url }, call);
      return errorText ?? "loads";
    },
    reload: () => cdp.send("Page.reload", {}, call),
    trust: () => cdp.send("Security.setIgnoreCertificateErrors", { ignore: true }, call),
    draw: () => cdp.send("Page.captureScreenshot", { format: "jpeg" }, call),
    close: () => cdp.send("Target.closeTarget", { targetId }, { timeoutMs: 60_000 }),
    async isThere(): Promise<boolean> {
      const { targetInfos } = await cdp.send("Target.getTargets", {});
      return targetInfos.some((info) => info.targetId === targetId);
    },
  };
};
type Tab = Awaited<ReturnType<typeof openTab>>;

const runIn = async (tab: Tab, run: string): Promise<string> => {
  const ran = inTime(tab.evaluate(scriptOf(run), true));
  const untilMs = performance.now() + tellMs + (run.includes("wait(") ? 6000 : 0);
  await Promise.race([ran, tab.dialog]);
  while (!tab.hasDialog()) {
    // Another document, or one that stands still, knows nothing of it.
    const told = (await inTime(tab.evaluate("window.told"))) ?? "returns";
    if (told !== "waits" || performance.now() > untilMs) return String(told);
    await sleep(100);
  }
  return "waits";
};

/**
 * Whether the page takes a click and is drawn. A page of Chromium's own tells of no clicks. `left`: further tries of a
 * page that runs its scripts: on a machine under load a click comes late.
 */
const goesOnIn = async (tab: Tab, left = 1): Promise<boolean> => {
  const before = await inTime(tab.evaluate("window.pressed ?? -1"));
  if (before === undefined) return false;
  const isClicked = await inTime(tab.click("left"));
  const after = await inTime(tab.evaluate("window.pressed ?? -1"));
  const isTaken = isClicked === true && (before === -1 || after !== before);
  if (isTaken && (await inTime(tab.draw())) !== undefined) return true;
  return left > 0 && goesOnIn(tab, left - 1);
};

const doAfter = async (tab: Tab, after: Thing["after"], elsewhere: string): Promise<void> => {
  if (after === "reload") await inTime(tab.reload());
  if (after === "right_click") await inTime(tab.click("right"));
  // A page that was never touched may ask nothing.
  if (after === "leave" || after === "close") await inTime(tab.click("left"));
  if (after === "leave") await inTime(tab.navigate(elsewhere));
  if (after === "close") await inTime(tab.close());
};

/** Tries a thing in a tab of its own. */
export const tryThing = async (cdp: CdpConnection, site: PromptSite, thing: Thing): Promise<Tried> => {
  const { path = "/", run, after, certificate } = thing;
  const base = certificate ? site.secureUrl : site.url;
  const tab = await openTab(cdp);
  if (certificate === "trusted") await tab.trust();
  const loaded = (await inTime(tab.navigate(base + path), 10_000)) ?? "waits";
  await sleep(settleMs);
  const ran = run ? await runIn(tab, run) : loaded;
  await doAfter(tab, after, `${base}/posts`);
  await sleep(settleMs);
  if (after === "close" && !(await tab.isThere())) return { told: "closes", goesOn: true, canLeave: true };
  const told = tab.hasDialog() ? "dialog" : ran;
  const goesOn = await goesOnIn(tab);
  const canLeave = (await inTime(tab.navigate("about:blank"))) === "loads";
  await inTime(tab.close());
  return { told, goesOn, canLeave };
};
