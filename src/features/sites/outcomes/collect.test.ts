import { describe, expect, test } from "vitest";
import type { EvidenceStore } from "../evidence-store.ts";
import { addRun, recipeKey } from "../rules/site.ts";
import type { SiteLine } from "../site-evidence.ts";
import type { Recipe } from "../site-recipe.ts";
import type { SiteReport } from "../site-reports.ts";
import { createCollector } from "./collect.ts";

const recipe: Recipe = {
  browser: { stealth: false, headless: true, gpu: false, viewport: { width: 1920, height: 1080 } },
};
const url = "https://www.shop.example/basket";
const hour = 3_600_000;

const placesOf = (target: { normalized: string; host: string; domain: string }) =>
  [
    ["exact", target.normalized],
    ["host", target.host],
    ["domain", target.domain],
  ] as const;

/** A store that keeps sites in memory, tries each write twice, and remembers runs as the real one does. */
const setUp = ({ known = [url, "www.shop.example", "shop.example"], given = [] as string[], of = recipe } = {}) => {
  const sites = new Map<string, SiteLine>();
  const trial = { ...of, accessed: 3, blocked: 0, inconclusive: 0, observedAt: "2026-01-01T00:00:00Z", supports: true };
  for (const target of known) {
    const place = {
      scope: target.includes("/") ? "exact" : target === "shop.example" ? "domain" : "host",
      target,
    } as const;
    const run = { origin: "here", source: "trial" as const, results: [trial], guidance: undefined };
    sites.set(target, addRun(undefined, place, run));
  }
  const runs = new Set<string>();
  const writes: string[] = [];
  const results: Record<string, number> = {};
  let nowMs = Date.UTC(2026, 0, 2);
  const evidence: Pick<EvidenceStore, "addSessions"> = {
    async addSessions(domain, sessions, begin) {
      writes.push(domain);
      const attempt = (): (() => void)[] => {
        const mayCount = begin();
        return sessions
          .filter(({ runId }) => !runs.has(runId))
          .flatMap((session) =>
            placesOf(session.target)
              .map(([scope, target]) => ({ scope, target }))
              .filter((place) => mayCount(session, place, sites.get(place.target)))
              .map((place) => () => {
                runs.add(session.runId);
                sites.set(place.target, addRun(sites.get(place.target), place, session.run));
              }),
          );
      };
      attempt();
      for (const apply of attempt()) apply();
      return { left: 0 };
    },
  };
  const collector = createCollector({
    evidence,
    origin: "here",
    isGiven: ({ target }, one) => given.includes(target) && recipeKey(one) === recipeKey(recipe),
    now: () => nowMs,
    reported(result, count) {
      results[result] = (results[result] ?? 0) + count;
    },
  });
  const flush = () => collector.flush(new AbortController().signal);
  return {
    ...collector,
    flush,
    writes,
    results,
    pass: (ms: number) => {
      nowMs += ms;
    },
    sessions: () =>
      Object.fromEntries(
        [...sites].map(([target, { configurations }]) => {
          const own = configurations.flatMap(({ evidence: all }) => all.filter(({ source }) => source === "session"));
          return [target, own.map(({ accessed, blocked }) => `${accessed}/${blocked}`).join(" ")];
        }),
      ),
  };
};

let last = 0;
const report = (more: Partial<SiteReport> = {}): SiteReport => {
  last += 1;
  return { session: `s${last}`, project: "p", recipe, target: url, verdict: "accessed", ...more };
};

describe("what a session found", () => {
  // LOOKUP-80
  test("counts for page, host and domain, apart from trials, in one write for a domain", async () => {
    const { add, flush, sessions, writes, results } = setUp();
    add(report());
    add(report({ project: "q", verdict: "blocked" }));
    await flush();
    expect(sessions()).toEqual({ [url]: "1/1", "www.shop.example": "1/1", "shop.example": "1/1" });
    expect([writes, results]).toEqual([["shop.example"], { counted: 2, skipped: 0 }]);
    await flush();
    expect(writes).toHaveLength(1);
  });

  // LOOKUP-85
  test("adds no page, host or configuration that nobody else has made known", async () => {
    const { add, flush, sessions, results } = setUp({ known: ["www.shop.example"] });
    add(report());
    const { browser } = recipe;
    add(report({ project: "q", recipe: { browser: { ...browser, stealth: true } } }));
    add(report({ target: "https://other.example/" }));
    await flush();
    expect(sessions()).toEqual({ "www.shop.example": "1/0" });
    expect(results).toEqual({ counted: 1, skipped: 2 });
  });

  test("counts for what people have given as YAML", async () => {
    const { add, flush, sessions } = setUp({ known: [], given: ["shop.example"] });
    add(report());
    await flush();
    expect(sessions()).toEqual({ "shop.example": "1/0" });
  });

  test("does not make known what only sessions know", async () => {
    const given = ["shop.example"];
    const { add, flush, sessions } = setUp({ known: [], given });
    add(report());
    await flush();
    given.pop();
    add(report({ project: "q" }));
    await flush();
    expect(sessions()).toEqual({ "shop.example": "1/0" });
  });

  // LOOKUP-87
  test("counts once in an hour of one project, for each site and configuration", async () => {
    const { add, flush, sessions, pass } = setUp();
    add(report());
    add(report());
    await flush();
    pass(hour - 1);
    add(report({ verdict: "blocked" }));
    // Another page of the host is unknown, and the host has had its count.
    add(report({ target: "https://www.shop.example/other" }));
    await flush();
    expect(sessions()).toEqual({ [url]: "1/0", "www.shop.example": "1/0", "shop.example": "1/0" });
    pass(1);
    add(report({ verdict: "blocked" }));
    await flush();
    expect(sessions()).toEqual({ [url]: "1/1", "www.shop.example": "1/1", "shop.example": "1/1" });
  });

  test("counts once, however often it is told", async () => {
    const { add, flush, sessions, pass } = setUp();
    add(report({ session: "same" }));
    await flush();
    pass(2 * hour);
    add(report({ session: "same" }));
    await flush();
    expect(sessions()[url]).toBe("1/0");
  });
});

test.each([
  ["a query", `${url}?secret=1`],
  ["a login", "https://me:secret@www.shop.example/basket"],
  ["an address inside", "http://10.0.0.1/"],
  ["another spelling", "https://WWW.shop.example/basket"],
])("a target with %s is dropped", async (_name, target) => {
  const { add, flush, writes, results } = setUp();
  add(report({ target }));
  await flush();
  expect([writes, results]).toEqual([[], { dropped: 1 }]);
});

test("one project fills no more than its part of the queue, and a flush writes a bounded number of domains", async () => {
  const { add, flush, writes, results } = setUp();
  for (let n = 0; n < 300; n += 1) add(report({ target: `https://d${n}.example/` }));
  expect(results).toEqual({ dropped: 100 });
  add(report({ project: "q" }));
  expect(results).toEqual({ dropped: 100 });
  await flush();
  expect(writes).toHaveLength(32);
  for (let n = 0; n < 10; n += 1) await flush();
  expect([writes.length, results]).toEqual([201, { dropped: 100, skipped: 200, counted: 1 }]);
});
