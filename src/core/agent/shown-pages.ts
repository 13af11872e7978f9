/**
 * Which pages of a lease may be pictured. Fields that a vault has filled show their values, so no picture is made
 *
 * - of any page while a fill is under way;
 * - afterwards, of a document that may hold what was filled: one that was there before the fill ended, or that the
 *   browser has reloaded or gone back to since, as it then writes what stood in the fields into the new document.
 *
 * The agent does not know which fields are filled: it passes bytes on. So this holds for every tab of the lease. What a
 * site itself shows of a login in a later document is shown.
 */
import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";
import { evaluateInPage } from "../../platform/cdp/commands.ts";

/** How long a page's answer is waited for, ms: a busy page shows nothing new. */
const answerMs = 2000;

export type ShownPages = {
  /** Whether a vault is being filled into a page of this lease. */
  isFilling(): boolean;
  /**
   * Calls `listener` when a fill begins, until the returned function is called. What it shows may be shown no longer.
   */
  onFill(listener: () => void): () => void;
  /**
   * Whether the present document of a page may be pictured. `sessionId`: the caller's own, of the page. False when that
   * is unknown.
   */
  mayShow(cdp: CdpConnection, sessionId: string): Promise<boolean>;
};

export type FillTimes = ShownPages & {
  /** A fill begins; call the returned function when its connection is closed. */
  begin(): () => void;
  /** Whether any page may show what a vault has filled: then each is to be asked for. */
  hasFilled(): boolean;
  /** Forgets all fills: the browser has been made anew. */
  forget(): void;
};

/** How its document came to a page; read in a world of its own, so the page can't change what it says. */
const readNavigation = `performance.getEntriesByType("navigation")[0]?.type ?? "navigate"`;

/**
 * The monotonic clock of the machine, ms: the one by which Chromium tells when a navigation began. No step of the time
 * of day moves it.
 */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

type Document = { beganMs: number; navigation: unknown };

const documentOf = async (cdp: CdpConnection, sessionId: string): Promise<Document> => {
  const call = { sessionId, timeoutMs: answerMs };
  const navigation = await evaluateInPage(cdp, readNavigation, call);
  await cdp.send("Performance.enable", {}, call);
  const { metrics } = await cdp.send("Performance.getMetrics", undefined, call);
  const began = metrics.find(({ name }) => name === "NavigationStart");
  return { beganMs: (began?.value ?? 0) * 1000, navigation };
};

/** No fill yet. */
export const createFillTimes = (): FillTimes => {
  let underWay = 0;
  let hasFilled = false;
  /** The end of the latest fill. */
  let endedMs = 0;
  const listeners = new Set<() => void>();
  return {
    begin() {
      underWay += 1;
      hasFilled = true;
      for (const listener of listeners) listener();
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        underWay -= 1;
        endedMs = monotonicMs();
      };
    },
    forget() {
      hasFilled = false;
      endedMs = 0;
    },
    isFilling: () => underWay > 0,
    hasFilled: () => hasFilled,
    onFill(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async mayShow(cdp, sessionId) {
      if (underWay > 0) return false;
      if (!hasFilled) return true;
      const found = await documentOf(cdp, sessionId).catch(() => undefined);
      // A fill may have begun meanwhile.
      return underWay === 0 && found?.navigation === "navigate" && found.beganMs > endedMs;
    },
  };
};
