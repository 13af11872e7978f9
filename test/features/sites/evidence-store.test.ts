import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createEvidenceStore,
  type EvidenceStore,
  type SessionRun,
} from "../../../src/features/sites/evidence-store.ts";
import {
  packSites,
  readSite,
  shardOf,
  siteKey,
  unpackSites,
  writeSite,
} from "../../../src/features/sites/pack-sites.ts";
import type { Run } from "../../../src/features/sites/rules/site.ts";
import { type Target, targetOf } from "../../../src/features/sites/rules/target.ts";
import { maxRememberedRuns, type SiteLine, siteEvidenceKind } from "../../../src/features/sites/site-evidence.ts";
import { startTestControlPlane, type TestControlPlane } from "../../crds/start-control-plane.ts";

let plane: TestControlPlane;
let store: EvidenceStore;
beforeAll(async () => {
  plane = await startTestControlPlane();
  store = createEvidenceStore({ kube: plane.kube });
});
afterAll(() => plane?.stop());

const target = (url: string): Target => {
  const found = targetOf(url);
  if (typeof found === "string") throw new Error(found);
  return found;
};

const browser = { stealth: true, headless: false, gpu: false, viewport: { width: 1920, height: 1080 } };
const counts = { accessed: 3, blocked: 0, inconclusive: 0 };
const run = (runId: string): Run & { runId: string } => ({
  runId,
  origin: "here",
  source: "trial",
  guidance: undefined,
  results: [{ browser, ...counts, observedAt: "2026-01-01T00:00:00Z", supports: true }],
});

const all = async (domain: string): Promise<SiteLine[]> => {
  const sites: SiteLine[] = [];
  for await (const site of store.all()) if (site.target.includes(domain)) sites.push(site);
  return sites;
};

const evidenceOf = (site: SiteLine | undefined) =>
  site?.configurations[0]?.evidence.map(({ accessed, runCount }) => [accessed, runCount]);

describe("a run of one target", () => {
  test("counts for the target, its host and its domain", async () => {
    await store.addRun(target("https://www.a.example/x"), run("1"));
    await store.addRun(target("https://www.a.example/y"), run("2"));
    const sites = await all("a.example");
    expect(Object.fromEntries(sites.map((site) => [`${site.scope} ${site.target}`, evidenceOf(site)]))).toEqual({
      "exact https://www.a.example/x": [[3, 1]],
      "exact https://www.a.example/y": [[3, 1]],
      "host www.a.example": [[6, 2]],
      "domain a.example": [[6, 2]],
    });
  });

  test("that is added again counts once, also by many writers at once", async () => {
    const place = target("https://b.example/");
    const ids = Array.from({ length: 8 }, (_, i) => `run-${i}`);
    const stores = ids.map(() => createEvidenceStore({ kube: plane.kube }));
    await Promise.all(
      stores.flatMap((each, i) => [each.addRun(place, run(ids[i] ?? "")), store.addRun(place, run("once"))]),
    );
    expect((await all("b.example")).map(evidenceOf)).toEqual([[[27, 9]], [[27, 9]], [[27, 9]]]);
  });

  test("is forgotten after many others, and not before", async () => {
    const { kube } = plane;
    const name = shardOf("c.example");
    const place = target("https://c.example/");
    await store.addRun(place, run("first"));
    const object = await kube.get(siteEvidenceKind, { name });
    if (!object?.status) throw new Error("nothing was written");
    const runs = Array.from({ length: maxRememberedRuns }, (_, i) => `other-${i}`);
    const status = { ...object.status, runs };
    await kube.replace(siteEvidenceKind, { ...object, status }, { subresource: "status" });
    await store.addRun(place, run("last"));
    const written = await kube.get(siteEvidenceKind, { name });
    expect(written?.status?.runs).toEqual([...runs.slice(1), "last"]);
  });
});

describe("a merge", () => {
  test("of what is there changes nothing, not even the object", async () => {
    await store.addRun(target("https://d.example/"), run("1"));
    const sites = await all("d.example");
    const versions = async () =>
      (await plane.kube.list(siteEvidenceKind)).items.map(({ metadata: { resourceVersion } }) => resourceVersion);
    const before = await versions();
    await store.merge(sites);
    expect(await versions()).toEqual(before);
  });

  test("of another origin adds its evidence", async () => {
    await store.addRun(target("https://e.example/"), run("1"));
    const sites = (await all("e.example")).map((site) => ({
      ...site,
      configurations: site.configurations.map((known) => ({
        ...known,
        evidence: known.evidence.map((each) => ({ ...each, origin: "there" })),
      })),
    }));
    await store.merge(sites);
    await store.merge(sites);
    expect((await all("e.example")).map(evidenceOf)).toEqual([
      [
        [3, 1],
        [3, 1],
      ],
      [
        [3, 1],
        [3, 1],
      ],
      [
        [3, 1],
        [3, 1],
      ],
    ]);
  });
});

describe("packed sites", () => {
  const site = (scope: SiteLine["scope"], name: string, day: number): SiteLine => ({
    scope,
    target: name,
    configurations: [
      {
        browser,
        evidence: [
          { origin: "o", source: "trial", ...counts, runCount: 1, lastObservedAt: `2026-01-${10 + day}T00:00:00Z` },
        ],
      },
    ],
  });

  test("are read as they were written", () => {
    const sites = [site("exact", 'https://x.example/a%22b?"'.replace('?"', ""), 1), site("domain", "x.example", 1)];
    const lines = new Map(sites.map((each) => [siteKey(each.scope, each.target), writeSite(each)]));
    expect([...unpackSites(packSites(lines).packed).values()].map(readSite)).toEqual(sites);
    expect(unpackSites(packSites(new Map()).packed).size).toBe(0);
  });

  test("that are too many lose the pages that were seen longest ago, and no host before a page", () => {
    const random = (i: number): string => Buffer.from(`${i * 7919}`).toString("hex");
    const sites = [
      site("host", "old.example", 0),
      ...Array.from({ length: 50 }, (_, i) => site("exact", `https://old.example/${random(i)}`, 1)),
      ...Array.from({ length: 50 }, (_, i) => site("exact", `https://new.example/${random(i)}`, 2)),
    ];
    const lines = new Map(sites.map((each) => [siteKey(each.scope, each.target), writeSite(each)]));
    const whole = packSites(lines).packed.length;
    const { packed, siteCount, left } = packSites(lines, Math.floor(whole * 0.8));
    const kept = [...unpackSites(packed).keys()];
    expect(packed.length).toBeLessThanOrEqual(whole * 0.8);
    expect([kept.length, left]).toEqual([siteCount, sites.length - siteCount]);
    expect(kept).toContain("host old.example");
    expect(kept.filter((key) => key.includes("new.example"))).toHaveLength(50);
  });

  test.each(["no base64!", Buffer.from("no gzip").toString("base64")])("that are none are refused: %s", (text) => {
    expect(() => unpackSites(text)).toThrow();
  });
});

describe("what sessions found", () => {
  const sessionRun = (runId: string, url: string): SessionRun => ({
    runId,
    target: target(url),
    run: {
      origin: "here",
      source: "session",
      guidance: undefined,
      results: [
        { browser, accessed: 1, blocked: 0, inconclusive: 0, observedAt: "2026-02-01T00:00:00Z", supports: false },
      ],
    },
  });
  const versionOf = async (domain: string): Promise<string | undefined> =>
    (await plane.kube.get(siteEvidenceKind, { name: shardOf(domain) }))?.metadata.resourceVersion;

  test("is added in one write, only where it counts, and once", async () => {
    await store.addRun(target("https://www.s.example/x"), run("trials of s"));
    const sessions = [sessionRun("s1", "https://www.s.example/x"), sessionRun("s2", "https://www.s.example/y")];
    const known: (string | undefined)[] = [];
    const add = () =>
      store.addSessions("s.example", sessions, () => (_session, place, site) => {
        known.push(`${place.scope} ${site?.target}`);
        return site !== undefined;
      });
    await Promise.all([add(), add(), add()]);
    expect(known).toContain("exact undefined");
    const sites = await all("s.example");
    const counted = sites.map((site) => [
      `${site.scope} ${site.target}`,
      site.configurations[0]?.evidence.map(({ source, accessed }) => `${source} ${accessed}`).sort(),
    ]);
    expect(Object.fromEntries(counted)).toEqual({
      "exact https://www.s.example/x": ["session 1", "trial 3"],
      "host www.s.example": ["session 2", "trial 3"],
      "domain s.example": ["session 2", "trial 3"],
    });
    const version = await versionOf("s.example");
    await add();
    await store.addSessions("s.example", [sessionRun("s3", "https://www.s.example/x")], () => () => false);
    expect(await versionOf("s.example")).toBe(version);
  });
});
