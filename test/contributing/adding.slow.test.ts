/** Follows the lists of CONTRIBUTING.md, "To add", in a copy of the tree: all steps work, and a forgotten one is noticed. */
import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { copyTree, type Tree } from "../mutations/tree.ts";
import { applyPatches, type SourcePatch } from "../robustness/hook/source-patch.ts";

const setting = {
  field: {
    file: "src/core/model/settings/browser-settings.ts",
    find: "  kioskMode,\n",
    replace: '  kioskMode,\n  muted: z.boolean().default(false).describe("Play no sound."),\n',
  },
  row: {
    file: "src/core/model/settings/setting-table.ts",
    find: "  gpu: {",
    replace: `  muted: {
    hashed: true,
    patch: "replaced",
    agent: { pod: ({ muted }) => (muted ? { muted } : {}) },
    answer: "as made",
    recipe: { only: false },
  },
  gpu: {`,
  },
  message: {
    file: "src/core/protocol/agent-api.ts",
    find: "  kiosk_mode: z.boolean(),",
    replace: "  kiosk_mode: z.boolean(),\n  muted: z.boolean().optional(),",
  },
  flag: {
    file: "src/core/agent/chromium-flags.ts",
    find: '  ...(browser.gpu ? gpuFlags : ["--disable-gpu"]),',
    replace: '  ...(browser.gpu ? gpuFlags : ["--disable-gpu"]),\n  ...(browser.muted ? ["--mute-audio"] : []),',
  },
  documented: {
    file: "scripts/settings/browser-settings.ts",
    find: "  kioskMode: {",
    replace: `  muted: {
    by: "agent (\`--mute-audio\`)",
    takesHold,
    // The test of such a switch would be a new one.
    shownBy: { "test/core/agent/browser-settings.slow.test.ts": ["in kiosk mode shows the page alone"] },
  },
  kioskMode: {`,
  },
} as const satisfies Record<string, SourcePatch>;

const featureFolder = "src/features/bookmarks";

/** The files of the feature, as CONTRIBUTING.md asks for: `=== name`, then the text. */
const kindFiles = async (): Promise<{ file: string; text: string }[]> =>
  (await readFile(join(import.meta.dirname, "new-kind.txt"), "utf8"))
    .split(/^=== /m)
    .slice(1)
    .map((part) => ({
      file: join(featureFolder, `${part.slice(0, part.indexOf("\n"))}.ts`),
      text: part.slice(part.indexOf("\n") + 1),
    }));

const listed: SourcePatch = {
  file: "src/cmd/features.ts",
  find: "  sites,\n",
  replace: "  sites,\n  bookmarks,\n",
};
const imported: SourcePatch = {
  file: "src/cmd/features.ts",
  find: 'import { extensions } from "../features/extensions/feature.ts";',
  replace:
    'import { bookmarks } from "../features/bookmarks/feature.ts";\nimport { extensions } from "../features/extensions/feature.ts";',
};

/** Time for a test that compiles, checks and generates, on a machine that others load too, ms. */
const wholeMs = 240_000;

let tree: Tree;

/** Makes these changes, for this test. */
const change = async (
  steps: readonly SourcePatch[],
  files: readonly { file: string; text: string }[] = [],
): Promise<void> => {
  const kept = new Map<string, string>();
  onTestFinished(async () => {
    for (const [path, text] of kept) await writeFile(path, text);
    await rm(join(tree.folder, featureFolder), { recursive: true, force: true });
  });
  for (const file of new Set(steps.map((step) => step.file))) {
    const path = join(tree.folder, file);
    const text = await readFile(path, "utf8");
    kept.set(path, text);
    await writeFile(path, applyPatches(file, text, steps));
  }
  for (const { file, text } of files) {
    await mkdir(dirname(join(tree.folder, file)), { recursive: true });
    await writeFile(join(tree.folder, file), text);
  }
};

/** What a program of the copy complains of; empty when all is well. */
const complaintsOf = async (...command: [string, ...string[]]): Promise<string> => {
  const [program, ...args] = command;
  const path = join(tree.folder, "node_modules/.bin", program);
  return promisify(execFile)(path, args, { cwd: tree.folder, maxBuffer: 2 ** 26 }).then(
    () => "",
    ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
  );
};

const types = (): Promise<string> => complaintsOf("tsc", "--pretty", "false");
const structure = (): Promise<string> => complaintsOf("node", "scripts/architecture.ts");
const generate = (): Promise<string> => complaintsOf("node", "scripts/gen.ts");

beforeAll(async () => {
  tree = await copyTree();
});
afterAll(() => tree[Symbol.asyncDispose]());

describe("a setting of a browser", () => {
  test(
    "is five files, and what is generated from them",
    async () => {
      await change(Object.values(setting));
      expect([await types(), await structure(), await generate()]).toEqual(["", "", ""]);
      for (const file of ["docs/openapi.json", "docs/settings.md", "crds/browserpool.dev_browserpools.yaml"])
        expect(await readFile(join(tree.folder, file), "utf8"), file).toContain("muted");
    },
    wholeMs,
  );

  test.each([
    ["row", /setting-table\.ts.*'muted' is missing/],
    ["message", /chromium-flags\.ts.*'muted' does not exist/],
    ["documented", /gen-settings\.ts.*'muted' is missing/],
  ] as const)("without its %s does not compile", async (forgotten, complaint) => {
    const { [forgotten]: _, ...others } = setting;
    await change(Object.values(others));
    expect(await types()).toMatch(complaint);
  });
});

describe("a kind", () => {
  test(
    "is six files and a line in the list of features, and what is generated from them",
    async () => {
      await change([imported, listed], await kindFiles());
      expect([await types(), await structure(), await generate()]).toEqual(["", "", ""]);
      for (const file of ["docs/openapi.json", "docs/permissions.md", "charts/browserpool/templates/rbac/_kinds.tpl"])
        expect(await readFile(join(tree.folder, file), "utf8"), file).toContain("bookmarks");
      expect(await readFile(join(tree.folder, "crds/browserpool.dev_bookmarks.yaml"), "utf8")).toContain("Bookmark");
    },
    wholeMs,
  );

  test("that the list of features lacks is noticed", async () => {
    await change([], await kindFiles());
    expect(await structure()).toContain(`${featureFolder}/feature.ts`);
  });
});
