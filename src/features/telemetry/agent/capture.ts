/**
 * One capture: a connection of the agent's own to Chromium, and the sources that its settings name.
 *
 *   Chromium ──events──► sources ──► recorder
 *
 * Pages and workers are attached only when a category needs them. Each new one then waits until its sources listen (one
 * round trip to Chromium), so that its first request and its first line are not missed. A page that floods the agent is
 * not listened to for a while.
 */

import type { ShownPages } from "../../../core/agent/shown-pages.ts";
import type { TelemetryCategory } from "../../../core/model/settings/telemetry.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { CdpConnection, CdpEvent } from "../../../platform/cdp/cdp-connection.ts";
import { tell } from "../../../platform/cdp/commands.ts";
import type { CdpCall } from "../../../platform/cdp/pending-calls.ts";
import type { Recorder } from "./recorder.ts";
import {
  contextOf,
  type Handlers,
  hasDocument,
  type Source,
  type SourceDeps,
  shownUrl,
  type Tab,
  workerTypes,
} from "./source.ts";
import { sampleSystem, takeScreenshots } from "./take-samples.ts";
import { watchConsole } from "./watch-console.ts";
import { watchNetwork } from "./watch-network.ts";
import { watchCaptchas, watchInteraction, watchPages } from "./watch-pages.ts";
import { watchIdle, watchStability } from "./watch-stability.ts";

/** Events of one page that are read in a second; what it sends beyond that is dropped unread. */
const maxPerSecond = 2000;

/** Tabs and frames that are watched at once, and workers; a browser with more has others things to worry about. */
const maxTabs = 500;
const maxWorkers = 200;

const pageSources: readonly [TelemetryCategory, (deps: SourceDeps) => Source][] = [
  ["console", watchConsole],
  ["network", watchNetwork],
  ["network", watchIdle],
  ["page", watchPages],
  ["page", watchStability],
  ["interaction", watchInteraction],
];

export type CaptureDeps = {
  cdp: CdpConnection;
  recorder: Recorder;
  categories: ReadonlySet<TelemetryCategory>;
  shown: ShownPages;
  log: Logger;
  /** Whether a client has said that it answers the dialogs of pages. */
  answersDialogs(): boolean;
};

type TargetInfo = { targetId: string; type: string; url: string; title: string; openerId?: string };

/** Tabs, and frames that have a process of their own. */
const documents = [{ type: "page" }, { type: "iframe" }];
const workers = workerTypes.map((type) => ({ type }));
const nothingElse = { exclude: true };

/** Returns what has Chromium attach each new one of them below a session, or below the browser. */
const attaching =
  (cdp: CdpConnection, withWorkers: boolean) =>
  (call: CdpCall): Promise<unknown> => {
    const filter = [...documents, ...(withWorkers ? workers : []), nothingElse];
    const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter };
    return cdp.send("Target.setAutoAttach", attach, call);
  };

/** The attached pages, each with how much it has sent. */
const createTabs = (recorder: Recorder) => {
  const tabs = new Map<string, Tab & { startMs: number; count: number }>();
  const isFull = (info: TargetInfo): boolean => {
    const isOfDocument = hasDocument(info);
    const alike = [...tabs.values()].filter((tab) => hasDocument(tab) === isOfDocument).length;
    return alike >= (isOfDocument ? maxTabs : maxWorkers);
  };
  return {
    add(sessionId: string, info: TargetInfo): Tab | undefined {
      if (isFull(info)) return undefined;
      const { targetId, type, url } = info;
      const tab = { sessionId, targetId, type, url, startMs: performance.now(), count: 0 };
      tabs.set(sessionId, tab);
      return tab;
    },
    /** The tab of an event; undefined when it is unknown or sends too much. */
    listening(sessionId: string): Tab | undefined {
      const tab = tabs.get(sessionId);
      if (!tab) return undefined;
      const now = performance.now();
      if (now - tab.startMs > 1000) Object.assign(tab, { startMs: now, count: 0 });
      tab.count += 1;
      if (tab.count <= maxPerSecond) return tab;
      recorder.drop("too_many");
      return undefined;
    },
    remove(sessionId: string): Tab | undefined {
      const tab = tabs.get(sessionId);
      tabs.delete(sessionId);
      return tab;
    },
    named: (targetId: string): Tab[] => [...tabs.values()].filter((tab) => tab.targetId === targetId),
  };
};

/** Starts; resolves when new pages are watched from their first request on. Stop it by the returned function. */
export const startCapture = async (deps: CaptureDeps): Promise<() => void> => {
  const { cdp, recorder, categories, shown, log, answersDialogs } = deps;
  const { emit } = recorder;
  const sources = pageSources.flatMap(([category, make]) => (categories.has(category) ? [make({ cdp, emit })] : []));
  const tabs = createTabs(recorder);
  const stops: (() => void)[] = [];
  const screenshots = categories.has("screenshot") ? takeScreenshots(cdp, emit, shown) : undefined;
  if (screenshots) stops.push(screenshots.stop);
  if (categories.has("system")) stops.push(sampleSystem(cdp, emit));
  const captchas = categories.has("captcha") ? watchCaptchas(emit) : undefined;
  const needsPages = sources.length > 0 || screenshots !== undefined;
  const needsWorkers = sources.some(({ ofWorkers }) => ofWorkers);
  const attachBelow = attaching(cdp, needsWorkers);
  let isReady = false;
  let hasFailed = false;

  const attached = (sessionId: string, info: TargetInfo): void => {
    const tab = tabs.add(sessionId, info);
    if (tab) {
      for (const source of sources) if (hasDocument(tab) || source.ofWorkers) source.enable(tab);
      tell(attachBelow({ sessionId }));
      if (info.type === "page") screenshots?.changed(tab);
    }
    tell(cdp.send("Runtime.runIfWaitingForDebugger", undefined, { sessionId }));
  };
  const detached = (sessionId: string): void => {
    const tab = tabs.remove(sessionId);
    if (!tab) return;
    screenshots?.forget(tab);
    for (const source of sources) source.forget?.(tab);
  };
  const known = (info: TargetInfo): void => {
    captchas?.take(info);
    for (const tab of tabs.named(info.targetId)) {
      tab.url = info.url;
      if (tab.type === "page") screenshots?.changed(tab);
    }
  };
  const created = (info: TargetInfo): void => {
    known(info);
    if (!isReady || info.type !== "page" || !categories.has("page")) return;
    const { targetId, openerId, title, url } = info;
    const data = { target_id: targetId, target_type: "page" as const, opener_id: openerId, title, url: shownUrl(url) };
    emit("page_tab_opened", data, { kind: "cdp", event: "Target.targetCreated" });
  };
  const crashed = (targetId: string, errorCode: number): void => {
    if (!categories.has("page")) return;
    const [tab] = tabs.named(targetId);
    const where = tab ? contextOf(tab) : { target_id: targetId, target_type: "other" as const, url: "" };
    emit("page_crashed", { ...where, error_code: errorCode }, { kind: "cdp", event: "Target.targetCrashed" });
  };

  const ofBrowser: Handlers = {
    "Target.attachedToTarget": ({ sessionId, targetInfo }) => attached(sessionId, targetInfo),
    "Target.detachedFromTarget": ({ sessionId }) => detached(sessionId),
    "Target.targetCreated": ({ targetInfo }) => created(targetInfo),
    "Target.targetInfoChanged": ({ targetInfo }) => known(targetInfo),
    "Target.targetDestroyed": ({ targetId }) => captchas?.forget(targetId),
    "Target.targetCrashed": ({ targetId, errorCode }) => crashed(targetId, errorCode),
  };
  /**
   * A browser without a screen closes dialogs by itself, unless somebody has asked to be told of pages: the agent has.
   */
  const dialog = (tab: Tab): void => {
    if (answersDialogs()) return;
    tell(cdp.send("Page.handleJavaScriptDialog", { accept: false }, { sessionId: tab.sessionId }));
  };
  const ofPages: readonly Handlers[] = [
    { "Page.javascriptDialogOpening": (_params, tab) => dialog(tab) },
    ...sources.map(({ handlers }) => handlers),
  ];

  const handle = ({ method, params, sessionId }: CdpEvent): void => {
    const own = Object.hasOwn(ofBrowser, method) ? ofBrowser[method as keyof Handlers] : undefined;
    if (own) {
      (own as (params: unknown) => void)(params);
      return;
    }
    const tab = sessionId === undefined ? undefined : tabs.listening(sessionId);
    if (!tab) return;
    for (const handlers of ofPages)
      if (Object.hasOwn(handlers, method))
        (handlers[method as keyof Handlers] as (params: unknown, tab: Tab) => void)(params, tab);
  };
  cdp.onEvent((event) => {
    try {
      handle(event);
    } catch (error) {
      // A browser that does not keep to its protocol must not end the agent.
      recorder.drop("unreadable");
      if (!hasFailed)
        log.warn(
          { method: event.method, why: error instanceof Error ? error.name : "unknown" },
          "an event can't be read",
        );
      hasFailed = true;
    }
  });
  await cdp.send("Target.setDiscoverTargets", { discover: true, filter: [...documents, nothingElse] });
  if (needsPages) await attachBelow({});
  isReady = true;
  return () => {
    for (const stop of stops) stop();
    for (const source of sources) source.stop?.();
  };
};
