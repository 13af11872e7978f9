/** What lookups answer by knowledge that is given: YAML and imports, and what kubectl tells of the kinds. */
import { deepStrictEqual } from "node:assert";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Lane } from "../lane.ts";
import type { Check } from "../report.ts";
import { lookUp } from "./analyses.ts";
import { until } from "./until.ts";

const root = resolve(import.meta.dirname, "../../..");
const sample = ["--filename", join(root, "manifests/samples/siteconfig.yaml")];

/** Lookups of which each replica of the API gets some. */
const manyLookups = 8;

/** Resolves with how long it took until all replicas recommended something for the URL, or nothing. */
export const whenKnown = async (lane: Lane, url: string, isKnown: boolean): Promise<string> => {
  const startMs = performance.now();
  await until(
    `${url} is ${isKnown ? "known" : "unknown"}`,
    async () => {
      const answers = await Promise.all(Array.from({ length: manyLookups }, () => lookUp(lane, url)));
      return answers.every(({ recommendation }) => (recommendation !== null) === isKnown);
    },
    { signal: lane.signal, limitMs: 10_000 },
  );
  return `${Math.round(performance.now() - startMs)} ms after it was written`;
};

const byYaml = async (lane: Lane): Promise<string> => {
  const url = "https://www.shop.example/basket";
  await lane.kubectl("apply", ...sample);
  const text = await whenKnown(lane, url, true);
  const { recommendation, guidance } = await lookUp(lane, url);
  if (recommendation?.type !== "recommendation") throw new Error(JSON.stringify(recommendation));
  const { browser, proxy, match_scope, evidence } = recommendation;
  deepStrictEqual([browser.headless, browser.stealth, match_scope], [false, true, "host"]);
  // No provider has the residential proxy that reached it more often.
  deepStrictEqual(proxy, { mode: "direct" });
  deepStrictEqual([evidence.accessed, evidence.blocked], [19, 1]);
  if (!guidance?.includes("consent")) throw new Error(`guidance: ${guidance}`);
  await lane.kubectl("wait", "siteconfig/shop", "--for=condition=Ready", "--timeout=30s");
  return text;
};

/** Two lines, as another installation exports them. */
const exported = [
  { scope: "host", target: "www.imported.example" },
  { scope: "exact", target: "https://www.imported.example/basket" },
].map((site) => ({
  ...site,
  configurations: [
    {
      browser: { stealth: true, headless: false, gpu: false, viewport: { width: 1920, height: 1080 } },
      evidence: [
        {
          origin: "another-cluster",
          source: "trial",
          accessed: 9,
          blocked: 1,
          inconclusive: 0,
          runCount: 3,
          lastObservedAt: "2026-11-20T09:30:00Z",
        },
      ],
    },
  ],
}));

const byImport = async (lane: Lane): Promise<string> => {
  const url = "https://www.imported.example/basket";
  const file = join(lane.folder, "knowledge.jsonl");
  await writeFile(file, exported.map((site) => `${JSON.stringify(site)}\n`).join(""));
  const registry = (...args: string[]) => lane.run(process.execPath, join(root, "src/main.ts"), "registry", ...args);
  await registry("import", "--file", file);
  const text = await whenKnown(lane, url, true);
  // Once more: it counts once.
  await registry("import", "--file", file);
  const { recommendation } = await lookUp(lane, url);
  if (recommendation?.type !== "recommendation") throw new Error(JSON.stringify(recommendation));
  const { match_scope, evidence } = recommendation;
  deepStrictEqual([match_scope, evidence.accessed, evidence.blocked], ["exact", 9, 1]);
  const lines = (await registry("export")).trim().split("\n");
  const own = lines.filter((line) => line.includes("www.imported.example"));
  deepStrictEqual(own.map((line) => JSON.parse(line).scope).toSorted(), ["exact", "host"]);
  return text;
};

/** Rejects unless the text has all of these. */
const expectIn = (text: string, parts: string[]): void => {
  const missing = parts.filter((part) => !text.includes(part));
  if (missing.length > 0) throw new Error(`no ${missing.join(", ")} in:\n${text}`);
};

const explained = async ({ kubectl }: Lane): Promise<void> => {
  const texts = ["siteconfig.spec", "siteconfig.spec.configurations", "siteanalysis.status.trials"].map(
    async (path) => [path, await kubectl("explain", path)] as const,
  );
  for (const [path, text] of await Promise.all(texts))
    if (text.includes("<no description>") || !text.includes("FIELDS:")) throw new Error(`${path}:\n${text}`);
  expectIn(await kubectl("explain", "siteconfig.spec"), ["exact: one URL", "target", "guidance"]);
};

const tables = async ({ kubectl }: Lane): Promise<string> => {
  const configs = await kubectl("get", "sitecfg");
  expectIn(configs, ["TARGET", "SCOPE", "READY", "www.shop.example", "True"]);
  const analyses = await kubectl("get", "sitean");
  expectIn(analyses, ["TARGET", "PHASE", "OUTCOME", "http://open-shop.example/", "Succeeded", "recommendation"]);
  return `\n${configs}${analyses}`.trimEnd();
};

/** Needs an analysis of the open site. Leaves what was imported. */
export const givenKnowledge = async (lane: Lane, check: Check): Promise<void> => {
  await using parts = new AsyncDisposableStack();
  parts.defer(async () => void (await lane.kubectl("delete", ...sample, "--ignore-not-found", "--timeout=60s")));
  await check("a lookup answers by a SiteConfig that kubectl has applied", () => byYaml(lane));
  await check("kubectl explain teaches the kinds", () => explained(lane));
  await check("kubectl get shows what is known and what is tried", () => tables(lane));
  await check("a deleted SiteConfig is unknown again", async () => {
    await lane.kubectl("delete", ...sample, "--timeout=60s");
    return whenKnown(lane, "https://www.shop.example/basket", false);
  });
  await check("what is imported is looked up, counts once, and is exported", () => byImport(lane));
};
