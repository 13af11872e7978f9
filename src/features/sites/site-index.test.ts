import { expect, test } from "vitest";
import { type SiteConfig, siteConfigKind } from "./configs/site-config.ts";
import { packSites, shardOf, siteKey, writeSite } from "./pack-sites.ts";
import { createSiteIndex } from "./site-index.ts";

const browser = { stealth: false, headless: true, gpu: false, viewport: { width: 1920, height: 1080 } };
const counts = { accessed: 3, blocked: 0, inconclusive: 0, runCount: 1, lastObservedAt: "2026-01-01T00:00:00Z" };

const config = (name: string, target: string): SiteConfig => ({
  kind: siteConfigKind.kind,
  metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: `2026-01-0${name.length}T00:00:00Z` },
  spec: { scope: "host", target, configurations: [{ browser, evidence: counts }] },
});

const packed = (...targets: string[]): string =>
  packSites(
    new Map(
      targets.map((target) => {
        const evidence = [{ origin: "here", source: "trial" as const, ...counts }];
        const line = { scope: "host" as const, target, configurations: [{ browser, evidence }] };
        return [siteKey("host", target), writeSite(line)];
      }),
    ),
  ).packed;

// LOOKUP-49
test("a site that people and trials know is one", () => {
  const index = createSiteIndex();
  const names = (): string[] => {
    const found = [...index.places()].map(({ scope, target }) => `${scope} ${target}`).sort();
    expect(index.size()).toBe(found.length);
    return found;
  };
  expect(names()).toEqual([]);
  index.putShard(shardOf("shop.example"), packed("a.shop.example", "b.shop.example"));
  index.putConfig(config("a", "a.shop.example"));
  index.putConfig(config("c", "c.shop.example"));
  const all = ["host a.shop.example", "host b.shop.example", "host c.shop.example"];
  expect(names()).toEqual(all);
  // A second object of the same target, and the same object again.
  index.putConfig(config("aa", "a.shop.example"));
  index.putConfig(config("a", "a.shop.example"));
  expect(names()).toEqual(all);
  index.dropConfig(config("a", "a.shop.example"));
  index.dropConfig(config("c", "c.shop.example"));
  expect(names()).toEqual(["host a.shop.example", "host b.shop.example"]);
  index.dropShard(shardOf("shop.example"));
  expect(names()).toEqual(["host a.shop.example"]);
  index.dropConfig(config("aa", "a.shop.example"));
  expect(names()).toEqual([]);
});
