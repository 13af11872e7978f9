/**
 * Pictures of the tab that is shown, small and seldom. None while a vault fills, and none of a page that may show what
 * was filled (shown-pages.ts).
 */
import { readdir, readFile } from "node:fs/promises";
import type { ShownPages } from "../../../core/agent/shown-pages.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { type Emit, isPictureSmall } from "./recorder.ts";
import { contextOf, type Tab } from "./source.ts";

// Memory and processor of the browser's processes.

/** Time between two samples, ms. */
const sampleEveryMs = 10_000;

/** A file of /proc; "" of a process that is gone. */
const procFile = (path: string): Promise<string> => readFile(`/proc/${path}`, "utf8").catch(() => "");

const childrenOf = async (pid: number): Promise<number[]> => {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => procFile(`${pid}/task/${thread}/children`)));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
};

const belowOf = async (pid: number): Promise<number[]> => {
  const children = await childrenOf(pid);
  return [...children, ...(await Promise.all(children.map(belowOf))).flat()];
};

/** The value of a field of `/proc/<pid>/status`; the last one, if there are several. */
const fieldOf = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:.*?(\\d+)(?: kB)?$`, "m").exec(status)?.[1] ?? 0);

/**
 * Resident memory of the browser's processes, bytes; what they share counts for each. `ids`: as Chromium calls them,
 * which may have namespaces in which all processes have other numbers.
 */
const memoryOf = async (ids: readonly number[]): Promise<number> => {
  const wanted = new Set(ids);
  let bytes = 0;
  for (const pid of await belowOf(process.pid)) {
    const status = await procFile(`${pid}/status`);
    if (wanted.has(fieldOf(status, "NSpid"))) bytes += fieldOf(status, "VmRSS") * 1024;
  }
  return bytes;
};

const sample = async (cdp: CdpConnection, emit: Emit): Promise<void> => {
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo", undefined);
  const usage = {
    memory_bytes: await memoryOf(processInfo.map(({ id }) => id)),
    cpu_seconds: processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0),
    processes: processInfo.length,
  };
  emit("system_usage", usage, { kind: "local_process", event: "SystemInfo.getProcessInfo" });
};

/** Samples until the returned function is called. */
export const sampleSystem = (cdp: CdpConnection, emit: Emit): (() => void) => {
  // A browser that has just ended answers nothing; its end is told by others.
  const run = (): void => void sample(cdp, emit).catch(() => undefined);
  const timer = setInterval(run, sampleEveryMs);
  run();
  return () => clearInterval(timer);
};

/** Time between two pictures, ms: the first comes soon after a page has changed. */
const everyMs = 10_000;
const afterChangeMs = 500;

/** How long the browser may take for one, ms: a tab in the background is not drawn. */
const limitMs = 3000;

/** Width of a picture at most, pixels. */
const maxWidth = 800;

type Screenshots = {
  /** This tab has changed, and is pictured next. */
  changed(tab: Tab): void;
  forget(tab: Tab): void;
  stop(): void;
};

const picture = async (cdp: CdpConnection, { sessionId }: Tab): Promise<string> => {
  const call = { sessionId, timeoutMs: limitMs };
  const { cssVisualViewport: seen } = await cdp.send("Page.getLayoutMetrics", undefined, call);
  const { clientWidth: width, clientHeight: height, pageX: x, pageY: y } = seen;
  const clip = { x, y, width, height, scale: Math.min(1, maxWidth / Math.max(1, width)) };
  const { data } = await cdp.send("Page.captureScreenshot", { format: "png", clip, optimizeForSpeed: true }, call);
  return data;
};

/** Takes pictures until it is stopped; the same one is told once. */
export const takeScreenshots = (cdp: CdpConnection, emit: Emit, shown: ShownPages): Screenshots => {
  let tab: Tab | undefined;
  let last = "";
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  let lastMs = Number.NEGATIVE_INFINITY;
  let dueMs = Number.POSITIVE_INFINITY;

  const take = async (): Promise<void> => {
    const now = tab;
    if (!now || !(await shown.mayShow(cdp, now.sessionId))) return;
    let isFilled = false;
    const stopListening = shown.onFill(() => {
      isFilled = true;
    });
    try {
      const png = await picture(cdp, now);
      // A fill that began meanwhile may be in it.
      if (isOver || isFilled || png === last) return;
      last = png;
      const source = { kind: "cdp" as const, event: "Page.captureScreenshot" };
      emit("monitor_screenshot", { ...contextOf(now), ...(isPictureSmall(png) && { png }) }, source);
    } finally {
      stopListening();
    }
  };
  const schedule = (waitMs: number): void => {
    clearTimeout(timer);
    if (isOver) return;
    dueMs = performance.now() + waitMs;
    timer = setTimeout(() => {
      lastMs = performance.now();
      // A tab that is closed or busy has no picture.
      void take()
        .catch(() => undefined)
        .then(() => schedule(everyMs));
    }, waitMs);
  };
  schedule(afterChangeMs);
  return {
    changed(changed) {
      tab = changed;
      const waitMs = Math.max(afterChangeMs, lastMs + everyMs - performance.now());
      // A page that changes all the time must not put its picture off.
      if (performance.now() + waitMs < dueMs) schedule(waitMs);
    },
    forget(gone) {
      if (tab === gone) tab = undefined;
    },
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
};
