import { expect, test } from "vitest";
import { checkMap } from "./check-map.ts";

const map = `# Contributing

## Where things are

    src/main.ts, src/cmd    commands
    src/kube                the Kubernetes client
    docs                    pages

    Indented by chance.

## Tests

    src/gone    is no part of the map
`;

const files = {
  "src/main.ts": "",
  "src/cmd/api.ts": "",
  "src/kube/client/a.ts": "",
  "docs/a.md": "",
  "package.json": "",
};

const problems = (text: string, more: Record<string, string> = {}): string[] =>
  checkMap(new Map(Object.entries({ ...files, ...more, "CONTRIBUTING.md": text })));

test("a map of all folders is fine", () => expect(problems(map)).toEqual([]));

test.each([
  ["src/redis/a.ts", "src/redis"],
  ["bench/a.ts", "bench"],
  [".ci/run", ".ci"],
])("a folder that it leaves out is told: %s", (file, folder) =>
  expect(problems(map, { [file]: "" })).toEqual([`CONTRIBUTING.md does not say what ${folder} is`]),
);

test("what is gone is told", () =>
  expect(problems(map.replace("src/kube  ", "src/kube, src/registry  "))).toEqual([
    "CONTRIBUTING.md:6 names src/registry, which is not there",
  ]));

test("a map must be there", () =>
  expect(problems("# Contributing\n")).toEqual(['CONTRIBUTING.md has no map under "## Where things are"']));
