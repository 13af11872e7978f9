/** The examples of docs/config-registry.md, as a reader runs them in local mode. */
import { execFile } from "node:child_process";
import { chmod, copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SiteLine } from "../../../src/features/sites/site-evidence.ts";
import type { AnalysisAnswer, LookupAnswer } from "../../../src/features/sites/site-wire.ts";
import { docExamples } from "../../support/doc-examples.ts";
import { eventually } from "../../support/eventually.ts";
import { type LocalStack, startLocalStack } from "../../support/local-stack.ts";

const root = join(import.meta.dirname, "../../..");
const commands = docExamples("config-registry.md", "sh");
const [settings = ""] = docExamples("config-registry.md", "yaml");
const [line = ""] = docExamples("config-registry.md", "json");
const [ownRules = ""] = docExamples("judging.md", "yaml");

let folder: string;
let stack: LocalStack;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "browserpool-docs-"));
  await symlink(join(root, "manifests"), join(folder, "manifests"));
  await writeFile(join(folder, "browserpool"), `#!/bin/sh\nexec "${process.execPath}" "${root}/src/main.ts" "$@"\n`);
  await chmod(join(folder, "browserpool"), 0o755);
  await writeFile(join(folder, "analyses.yaml"), settings);
  await writeFile(join(folder, "rules.yaml"), ownRules);
  // Nobody listens there: the trials through it say nothing.
  await writeFile(join(folder, "provider.yaml"), "isp: {host: 203.0.113.1, port: 8080, protocol: http, country: US}");
  stack = await startLocalStack({
    env: {
      BROWSERPOOL_ANALYSES_FILE: join(folder, "analyses.yaml"),
      BROWSERPOOL_PROXY_PROVIDER_FILE: join(folder, "provider.yaml"),
    },
  });
  await copyFile(stack.kubeconfig, join(folder, "other.yaml"));
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Runs the example that has this text, and returns what it prints. */
const run = async (having: string, env: Record<string, string> = {}): Promise<string> => {
  const example = commands.find((text) => text.includes(having));
  if (example === undefined) throw new Error(`no example has ${having}`);
  const { stdout } = await promisify(execFile)("sh", ["-ec", example], {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${folder}:${join(stack.dataDir, "bin")}:${process.env.PATH}`,
      KUBECONFIG: stack.kubeconfig,
      BASE_URL: stack.url,
      API_KEY: stack.api_key,
      ...env,
    },
  });
  return stdout;
};

const lookedUp = async (): Promise<LookupAnswer> => JSON.parse(await run("/config-registry/lookup")) as LookupAnswer;

test("knowledge is given as YAML, taught by kubectl, and looked up", async () => {
  expect((await lookedUp()).recommendation).toBeNull();
  const shown = await run("kubectl apply");
  expect(shown).toContain("siteconfig.browserpool.dev/shop created");
  expect(shown).toMatch(/^FIELDS:/m);
  const answer = await eventually("a lookup knows it", async () => {
    const found = await lookedUp();
    return found.recommendation !== null && found;
  });
  expect(answer.target).toEqual({
    normalized: "https://www.shop.example/basket",
    host: "www.shop.example",
    domain: "shop.example",
  });
  expect(answer.recommendation).toMatchObject({ type: "recommendation", match_scope: "host" });
});

test("the settings start analyses, and an analysis is asked for by its id", async () => {
  const begun = await run("/config-registry/resolve", { ID: "none" });
  const { analysis } = JSON.parse(begun.slice(0, begun.indexOf('{"code"'))) as AnalysisAnswer;
  const both = await run("/config-registry/resolve", { ID: analysis.id });
  const read = JSON.parse(both.slice(both.lastIndexOf('{"target"'))) as AnalysisAnswer;
  expect(read).toMatchObject({
    analysis: { id: analysis.id, run: 1 },
    target: { normalized: "https://www.shop.example/basket" },
  });
});

test("an export can be imported elsewhere, and the example of a line is one", async () => {
  await writeFile(join(folder, "line.jsonl"), `${line}\n`);
  await promisify(execFile)(join(folder, "browserpool"), ["registry", "import", "--file", join(folder, "line.jsonl")], {
    env: { ...process.env, KUBECONFIG: stack.kubeconfig },
  });
  await run("registry export");
  const lines = (await readFile(join(folder, "knowledge.jsonl"), "utf8")).trim().split("\n");
  const example = SiteLine.parse(JSON.parse(line));
  const known = lines.map((one) => SiteLine.parse(JSON.parse(one))).find(({ target }) => target === example.target);
  const evidenceOf = ({ configurations }: SiteLine): object[] => configurations.flatMap(({ evidence }) => evidence);
  expect(known && evidenceOf(known)).toEqual(expect.arrayContaining(evidenceOf(example)));
});
