import { describe, expect, test } from "vitest";
import { checkCitations } from "./check-citations.ts";

/** The files that are cited here, beside the one that cites. */
const around = {
  "README.md": "",
  "docs/vault.md": "",
  "docs/adr/0004-own-kubernetes-client.md": "",
  "src/controllers/browser-pool/plan/plan.ts": "",
  "src/leases/scripts/includes/notify.lua": "",
  "test/support/servers.ts": "",
};

const problems = (file: string, text: string): string[] => {
  const { [file as keyof typeof around]: _, ...others } = around;
  return checkCitations(new Map(Object.entries({ ...others, [file]: text })));
};

describe("what is there can be cited", () => {
  test.each([
    ["src/kube/a.ts", "/** As docs/vault.md says; vault.md, ../../README.md. */"],
    ["src/kube/a.ts", "// ADR 0004, docs/adr/0004, docs/adr/0004-own-kubernetes-client.md, docs/adr"],
    [
      "src/kube/a.ts",
      "// plan.ts, plan/plan.ts, src/controllers/browser-pool/plan/plan.ts, src/leases, scripts/includes/notify.lua.",
    ],
    ["src/kube/a.ts", "// as the plan does (plan/plan) and its folder (browser-pool/plan), (maybe)"],
    ["src/kube/a.ts", 'export const help = "forms in docs/vault.md";'],
    ["src/kube/a.ts", "// https://example.com/docs/gone.md and https://github.com/a/b/blob/main/src/gone.ts"],
    ["src/kube/a.ts", "// docs/*.md, src/**/gone.test.ts and src/gone-<name> are patterns."],
    ["test/a.test.ts", "// plan.ts; servers.ts"],
    ["docs/nodes.md", "[vault](vault.md), [decision](adr/0004-own-kubernetes-client.md#why), `src/leases`"],
    ["docs/adr/0005-b.md", "as before (0004), since 0099 bytes"],
    ["charts/browserpool/values.yaml", "# docs/vault.md"],
  ])("%s: %s", (file, text) => expect(problems(file, text)).toEqual([]));
});

describe("what is gone can't", () => {
  test.each([
    ["src/kube/a.ts", "/** See docs/gone.md. */", "docs/gone.md"],
    ["src/kube/a.ts", "// gone.md, Retries", "gone.md"],
    ["src/kube/a.ts", "// design.md, Law 4", "design.md"],
    ["src/kube/a.ts", 'export const help = "forms in docs/gone.md";', "docs/gone.md"],
    ["src/kube/a.ts", "export const help = `forms in gone.md`;", "gone.md"],
    ["src/kube/a.ts", "// ADR 0099", "ADR 0099"],
    ["src/kube/a.ts", "// docs/adr/0099", "docs/adr/0099"],
    ["src/kube/a.ts", "// src/kube/gone.ts", "src/kube/gone.ts"],
    ["src/kube/a.ts", "// as starts.ts does", "starts.ts"],
    ["src/kube/a.ts", "// as the plan does (gone/plan)", "(gone/plan)"],
    ["src/kube/a.ts", "// scripts/includes/gone.lua", "scripts/includes/gone.lua"],
    ["src/leases/scripts/a.lua", "-- As gone.lua does.", "gone.lua"],
    // Another file of the name is none that src/ would mean.
    ["src/kube/a.ts", "// servers.ts", "servers.ts"],
    ["test/a.test.ts", "// starts.ts", "starts.ts"],
    ["docs/nodes.md", "[gone](gone.md)", "gone.md"],
    ["docs/nodes.md", "`src/gone`", "src/gone"],
    ["docs/adr/0005-b.md", "as before (0099)", "(0099)"],
    ["charts/browserpool/values.yaml", "# docs/gone.md", "docs/gone.md"],
    ["CHANGELOG.md", "docs/gone.md", "docs/gone.md"],
  ])("%s: %s", (file, text, cited) =>
    expect(problems(file, `\n${text}`)).toEqual([`${file}:2 cites ${cited}, which is not there`]),
  );
});

test("strings may name files of other places", () =>
  expect(problems("test/a.test.ts", 'write("src/gone.ts", read("gone.lua"));')).toEqual([]));
