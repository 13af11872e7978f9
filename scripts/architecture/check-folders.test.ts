import { expect, test } from "vitest";
import { checkFolders, folderGraph } from "./check-folders.ts";

const tree = (files: Record<string, string>): Map<string, string> => new Map(Object.entries(files));

test.each([
  ["services/pools/a.ts", "../../redis/b.ts"],
  ["controllers/vault/a.ts", "../conditions.ts"],
  ["bootstrap/a.ts", "../services/api-keys/b.ts"],
  ["main.ts", "./cmd/api.ts"],
  ["http/app.ts", "../../package.json"],
])("imports of what is below are fine: %s → %s", (file, target) =>
  expect(checkFolders(tree({ [file]: `import a from "${target}";` }))).toEqual([]),
);

test.each([
  ["kube/a.ts", "../leases/b.ts", "the layer of clients is below that of leases"],
  ["resources/a.ts", "../domain/b.ts", "the layer of kinds is below that of rules"],
  ["leases/a.ts", "../services/pools/b.ts", "the layer of leases is below that of use cases"],
  ["services/pools/a.ts", "../../http/b.ts", "the layer of use cases is below that of servers"],
  ["errors.ts", "./kube/b.ts", "the layer of ground is below that of clients"],
  ["local/a.ts", "../cmd/b.ts", "the layer of servers is below that of commands"],
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
          "services/pools/a.ts": `${keyword} { b } from "../objects/b.ts";`,
          "services/objects/b.ts": 'import { c } from "../projects/c.ts";',
          "services/projects/c.ts": 'import { d } from "../pools/d.ts";',
          "services/pools/d.ts": "",
        }),
      ),
    ).toEqual([
      "services/pools/a.ts imports services/objects/b.ts, which leads back: " +
        "services/pools → services/objects → services/projects → services/pools",
    ]);
});

test("a controller's shared files are no way round a circle", () =>
  expect(
    checkFolders(
      tree({
        "controllers/all.ts": 'import { a } from "./vault/a.ts";',
        "controllers/vault/a.ts": 'import { b } from "../conditions.ts";',
        "controllers/conditions.ts": "",
      }),
    ),
  ).toEqual([expect.stringContaining("controllers → controllers/vault → controllers")]));

test("the type that use cases are composed by closes no circle; a value in its place does", () => {
  const files = (keyword: string) =>
    tree({
      "services/service-deps.ts": `${keyword} { A } from "./pools/a.ts";`,
      "services/pools/a.ts": 'import type { Deps } from "../service-deps.ts";',
    });
  expect(checkFolders(files("import type"))).toEqual([]);
  expect(checkFolders(files("import"))).toHaveLength(1);
});

test.each(["services/new-room/a.ts", "controllers/new-kind/a.ts", "stuff/a.ts", "stuff.ts"])(
  "a folder that no layer knows is refused: %s",
  (file) => expect(checkFolders(tree({ [file]: "" }))).toEqual([expect.stringContaining("is in no layer")]),
);

test("the graph has a line for each folder, the lowest first, and the totals", () =>
  expect(
    folderGraph(
      tree({
        "services/pools/a.ts": 'import { b } from "../../kube/b.ts";\nimport type { Deps } from "../service-deps.ts";',
        "services/service-deps.ts": "",
        "kube/b.ts": 'import { c } from "../http/c.ts";',
        "kube/b.test.ts": 'import { d } from "../cmd/d.ts";',
      }),
    ),
  ).toEqual([
    "clients: kube → http",
    "use cases: services → nothing",
    "use cases: services/pools → kube, services",
    "upward imports: 1, cycles: 0",
  ]));
