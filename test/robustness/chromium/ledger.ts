/**
 * Who had which browser, and what each holder may find in it. Pure: told what happened, it names what must not have.
 *
 * A holder finds nothing in its browser: it is new, or was made anew after its last holder. Later it finds what it has
 * left itself. A browser that was given up for destruction, or whose death was seen before a caller asked, is nobody's
 * any more. A stay may break only when its browser was killed, and a kill breaks one stay at most.
 */

/**
 * What a holder leaves in its browser: the same name in a cookie and in a page's `window.name`, and once the browser's
 * own.
 */
export type Marks = { cookie: string | undefined; windowName: string | undefined; browser: string | undefined };

export type Violation = { what: string; holder: string; pod: string; details?: Record<string, unknown> };

type Entry = {
  holder: string;
  /** Uid of the browser's pod. */
  pod: string;
  /** When the caller asked for a browser, ms of one clock. */
  askedAtMs: number;
  found: Marks;
};

export type Ledger = {
  /** A holder has its browser and has looked around. */
  enter(entry: Entry): void;
  /** What a holder sees while it still holds. */
  look(holder: string, seen: Marks): void;
  /** Called before the release is sent: from then on the next holder may enter. */
  leave(holder: string, how: "reused" | "destroyed"): void;
  /** A stay that did not come to its end; `pod` is "" when its lease was closed before anyone could look. */
  broke(stay: { holder: string; pod: string; why: string }): void;
  /** A process of this pod is about to be killed. `kind`: what `kills` counts it as. */
  kill(pod: string, kind: string): void;
  /** It is gone for sure. */
  died(pod: string, atMs: number): void;
  /** Whatever else must not happen. */
  report(violation: Violation): void;
  violations(): readonly Violation[];
  kills(): Record<string, number>;
};

type Stay = { holder: string; pod: string; how: "holding" | "reused" | "destroyed" };
type Browser = { last: Stay | undefined; killed: boolean; diedAtMs: number; broken: number };

export const createLedger = (): Ledger => {
  const browsers = new Map<string, Browser>();
  const stays = new Map<string, Stay>();
  const violations: Violation[] = [];
  const kills: Record<string, number> = {};
  /** Stays that broke without anyone knowing in which browser. */
  const unplaced: { holder: string; why: string }[] = [];

  const browserOf = (pod: string): Browser => {
    const known = browsers.get(pod) ?? {
      last: undefined,
      killed: false,
      diedAtMs: Number.POSITIVE_INFINITY,
      broken: 0,
    };
    browsers.set(pod, known);
    return known;
  };

  /** What is wrong with a mark that is there, or isn't, against expectation. */
  const fault = (found: string | undefined, expected: string | undefined, pod: string): string => {
    if (found === undefined) return `what ${expected} left is gone`;
    const owner = stays.get(found);
    if (!owner) return "something that no holder has left";
    if (owner.pod !== pod) return `what ${found} left in another browser`;
    if (owner.how === "destroyed") return `what ${found} left, who gave the browser up for destruction`;
    if (owner.how === "holding") return `what ${found} left, who still holds the browser`;
    return `what ${found} left`;
  };

  const compare = (holder: string, pod: string, found: Marks, expected: Marks): void => {
    for (const mark of ["cookie", "windowName"] as const)
      if (found[mark] !== expected[mark])
        violations.push({ what: `${mark}: ${fault(found[mark], expected[mark], pod)}`, holder, pod });
    if (found.browser !== expected.browser)
      violations.push({ what: `the browser says that it is ${found.browser ?? "new"}`, holder, pod });
  };

  return {
    enter({ holder, pod, askedAtMs, found }) {
      const browser = browserOf(pod);
      const { last } = browser;
      if (askedAtMs > browser.diedAtMs) violations.push({ what: "a dead browser was handed out", holder, pod });
      if (last?.how === "holding") violations.push({ what: `${last.holder} holds it too`, holder, pod });
      if (last?.how === "destroyed") violations.push({ what: `${last.holder} had it destroyed`, holder, pod });
      compare(holder, pod, found, { cookie: undefined, windowName: undefined, browser: undefined });
      browser.last = { holder, pod, how: "holding" };
      stays.set(holder, browser.last);
    },
    look(holder, seen) {
      const { pod = "" } = stays.get(holder) ?? {};
      compare(holder, pod, seen, { cookie: holder, windowName: holder, browser: pod });
    },
    leave(holder, how) {
      const stay = stays.get(holder);
      if (stay) stay.how = how;
    },
    broke({ holder, pod, why }) {
      if (pod === "") return void unplaced.push({ holder, why });
      const browser = browserOf(pod);
      browser.broken += 1;
      if (!browser.killed) violations.push({ what: `the stay broke without a crash: ${why}`, holder, pod });
      if (browser.broken > 1) violations.push({ what: "a dead browser had another holder", holder, pod });
    },
    kill(pod, kind) {
      browserOf(pod).killed = true;
      kills[kind] = (kills[kind] ?? 0) + 1;
    },
    died: (pod, atMs) => {
      browserOf(pod).diedAtMs = atMs;
    },
    report: (violation) => void violations.push(violation),
    kills: () => ({ ...kills }),
    violations() {
      const excuses = [...browsers.values()].filter(({ killed, broken }) => killed && broken === 0).length;
      const unexcused = unplaced.slice(excuses);
      return [
        ...violations,
        ...unexcused.map(({ holder, why }) => ({ what: `the stay broke without a crash: ${why}`, holder, pod: "" })),
      ];
    },
  };
};
