import { expect, test } from "vitest";
import { checkFolders, folderGraph } from "./check-folders.ts";

const tree = (files: Record<string, string>): Map<string, string> => new Map(Object.entries(files));

test.each([
  ["features/proxies/a.ts", "../../core/model/b.ts"],
  ["core/pools/plan/a.ts", "../../../platform/rules/b.ts"],
  ["platform/kube/a.ts", "../base/b.ts"],
  ["main.ts", "./cmd/api.ts"],
  ["core/api/docs.ts", "../../../package.json"],
])("imports of what is below are fine: %s → %s", (file, target) =>
  expect(checkFolders(tree({ [file]: `import a from "${target}";` }))).toEqual([]),
);

test.each([
  ["platform/kube/a.ts", "../../core/leases/b.ts", "the layer of platform is below that of core"],
  ["core/model/a.ts", "../../features/sites/b.ts", "the layer of core is below that of features"],
  ["features/sites/a.ts", "../../cmd/b.ts", "the layer of features is below that of programs"],
])("an import upward is refused, of types too: %s → %s", (file, target, reason) => {
  for (const keyword of ["import", "import type"])
    expect(checkFolders(tree({ [file]: `${keyword} { b } from "${target}";` }))).toEqual([
      expect.stringContaining(`upward: ${reason}`),
    ]);
});

test("a circle of folders is refused, of types too, and told once", () => {
  for (const keyword of ["import", "import type"])
    expect(
      checkFolders(
        tree({
          "core/pools/a.ts": `${keyword} { b } from "../objects/b.ts";`,
          "core/objects/x/b.ts": "",
          "core/objects/b.ts": 'import { c } from "../projects/c.ts";',
          "core/projects/c.ts": 'import { d } from "../pools/plan/d.ts";',
          "core/pools/plan/d.ts": "",
        }),
      ),
    ).toEqual([
      "core/pools/a.ts imports core/objects/b.ts, which leads back: " +
        "core/pools → core/objects → core/projects → core/pools",
    ]);
});

test.each(["stuff/a.ts", "stuff.ts"])("a folder that no layer knows is refused: %s", (file) =>
  expect(checkFolders(tree({ [file]: "" }))).toEqual([expect.stringContaining("is in no layer")]),
);

test("the graph has a line for each folder, the lowest first, and the totals", () =>
  expect(
    folderGraph(
      tree({
        "core/pools/a.ts": 'import { b } from "../../platform/kube/b.ts";',
        "platform/kube/b.ts": 'import { c } from "../../core/http/c.ts";',
        "platform/kube/b.test.ts": 'import { d } from "../../cmd/d.ts";',
        "core/http/c.ts": "",
      }),
    ),
  ).toEqual([
    "platform: platform/kube → core/http",
    "core: core/http → nothing",
    "core: core/pools → platform/kube",
    "upward imports: 1, cycles: 0",
  ]));
