import { describe, expect, test } from "vitest";
import { maxTrials, type Trial, type Verdict } from "../analyses/site-analysis.ts";
import type { ManagedProxy, Recipe } from "../site-recipe.ts";
import { candidates, guidanceOf, nextStep, type PlanRules, runResults } from "./trial-plan.ts";

const de: ManagedProxy = { type: "residential", residential: { country: "DE" } };
const us: ManagedProxy = { type: "isp" };
const rules: PlanRules = { minTrials: 3, minRate: 0.7, proxies: [de, us], countries: undefined };

const nameOf = ({ browser, proxy }: Recipe): string =>
  [browser.headless ? "headless" : "headful", ...(browser.stealth ? ["stealth"] : []), proxy?.type ?? "direct"].join(
    " ",
  );

/** Plays an analysis against a site. `answers`: verdict and reason of the nth trial of a configuration. */
const play = (answers: (name: string, nth: number, all: number) => Verdict | [Verdict, string], own = rules) => {
  const trials: Trial[] = [];
  for (;;) {
    const step = nextStep(trials, own);
    if (step.do === "end") return { ...step, tried: trials.map(nameOf), trials };
    const name = nameOf(step.recipe);
    const nth = trials.filter((trial) => nameOf(trial) === name).length;
    const answer = answers(name, nth, trials.length);
    const [verdict, reason] = typeof answer === "string" ? [answer, "said_so"] : answer;
    const startedAt = new Date(Date.UTC(2026, 0, 1, 0, trials.length)).toISOString();
    trials.push({ ...step.recipe, verdict, reason, startedAt, durationMs: 1, notes: [] });
    if (trials.length > maxTrials) throw new Error("it has no end");
  }
};

const times = (name: string, count: number): string[] => Array(count).fill(name);

test("cheaper configurations come first, and those of other countries not at all", () => {
  expect(candidates({ ...rules, countries: ["US"] }).map(nameOf)).toEqual([
    "headless direct",
    "headless stealth direct",
    "headful direct",
    "headful stealth direct",
    "headless isp",
    "headless stealth isp",
    "headful isp",
    "headful stealth isp",
  ]);
  expect(candidates(rules)).toHaveLength(12);
});

// LOOKUP-75
describe("an analysis", () => {
  test("of an open site ends with the cheapest configuration, after as many trials as are needed", () => {
    expect(play(() => "accessed")).toMatchObject({ outcome: "recommendation", tried: times("headless direct", 3) });
  });

  test("gives a configuration up when it can't become enough", () => {
    const { outcome, tried } = play((name) => (name === "headful stealth direct" ? "accessed" : "blocked"));
    expect(outcome).toBe("recommendation");
    expect(tried).toEqual([
      ...times("headless direct", 2),
      ...times("headless stealth direct", 2),
      ...times("headful direct", 2),
      ...times("headful stealth direct", 3),
    ]);
  });

  test("forgives one bad moment", () => {
    expect(play((_name, nth) => (nth === 1 ? "blocked" : "accessed"))).toMatchObject({
      outcome: "recommendation",
      tried: times("headless direct", 4),
    });
  });

  test("of a site that lets every second one in recommends nothing", () => {
    const { outcome, tried } = play((_name, _nth, all) => (all % 2 === 0 ? "accessed" : "blocked"));
    expect(outcome).toBe("no_working_configuration");
    expect(tried.slice(0, 4)).toEqual(times("headless direct", 4));
  });

  test("of a site that fails every second time goes on until it knows", () => {
    const answer = (_name: string, nth: number): [Verdict, string] =>
      nth % 2 === 0 ? ["accessed", "page"] : ["inconclusive", "server_error"];
    expect(play(answer)).toMatchObject({ outcome: "recommendation", tried: times("headless direct", 5) });
  });

  test("of a site that refuses all names what it saw", () => {
    const { outcome, message, tried } = play(() => ["blocked", "captcha"]);
    expect(outcome).toBe("no_working_configuration");
    expect(tried).toHaveLength(24);
    expect(message).toBe("the site refused every configuration (most often: captcha, 100 % of 24)");
  });

  test("of a dead site asks each way in short", () => {
    const { outcome, tried } = play(() => ["inconclusive", "connection_refused"]);
    expect(outcome).toBe("target_not_evaluable");
    expect(tried.slice(0, 6)).toEqual([
      ...times("headless direct", 2),
      "headless stealth direct",
      "headful direct",
      "headful stealth direct",
      "headless isp",
    ]);
    expect(tried).toHaveLength(15);
  });

  test("with a proxy that is down uses the others", () => {
    const answer = (name: string): [Verdict, string] => {
      if (name.endsWith("isp")) return ["inconclusive", "proxy_failed"];
      return name.endsWith("residential") ? ["accessed", "page"] : ["blocked", "address"];
    };
    const { outcome, tried } = play(answer);
    expect(outcome).toBe("recommendation");
    expect(tried.at(-1)).toBe("headless residential");
    expect(tried.filter((name) => name.endsWith("isp"))).toHaveLength(5);
  });

  test("with refusals and a proxy that is down is inconclusive", () => {
    const answer = (name: string): [Verdict, string] =>
      name.endsWith("isp") ? ["inconclusive", "proxy_failed"] : ["blocked", "address"];
    expect(play(answer).outcome).toBe("inconclusive");
  });

  test("has an end, whatever happens", () => {
    const proxies = Array.from(
      { length: 30 },
      (_, i): ManagedProxy => ({ type: "residential", residential: { asn: `${i + 1}` } }),
    );
    const { tried } = play(() => "blocked", { ...rules, proxies });
    expect(tried).toHaveLength(maxTrials);
  });
});

// LOOKUP-35
test("a run adds each configuration's counts, and says which it supports", () => {
  const { trials } = play((name) => (name === "headless stealth direct" ? "accessed" : "blocked"));
  expect(runResults(trials, rules).map(({ browser: _, ...result }) => result)).toEqual([
    { accessed: 0, blocked: 2, inconclusive: 0, observedAt: "2026-01-01T00:01:00.000Z", supports: false },
    { accessed: 3, blocked: 0, inconclusive: 0, observedAt: "2026-01-01T00:04:00.000Z", supports: true },
  ]);
});

// LOOKUP-46
test("guidance has each sentence once, and is left out when nothing was seen", () => {
  const { trials } = play(() => "accessed");
  const sentences = { dialog: "A dialog covers the page.", late: "It loads late." };
  expect(guidanceOf(trials, sentences)).toBeUndefined();
  const noted = trials.map((trial, i) => ({ ...trial, notes: ["dialog", ...(i === 1 ? ["late", "unknown"] : [])] }));
  expect(guidanceOf(noted, sentences)).toBe("- A dialog covers the page.\n- It loads late.");
});
