import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./generated-file.ts";
import { loggedFields } from "./log-fields.ts";

const page = readFileSync(join(root, "docs/log-lines.md"), "utf8");

/** The fields that a table of the page names in its first column. */
const fieldsBelow = (heading: string): string[] => {
  const part = page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...part.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  );
};

const fields = loggedFields();

test("docs/log-lines.md has every field that a line may have, and no other", () => {
  expect(fields.size).toBeGreaterThan(40);
  expect(fieldsBelow("In some lines").sort()).toEqual([...fields.keys()].sort());
  const example = /^\{"level".*\}$/m.exec(page)?.[0] ?? "{}";
  const [inAll, all] = [fieldsBelow("In every line"), Object.keys(JSON.parse(example))];
  expect(all).toEqual(expect.arrayContaining(inAll));
  expect(all.filter((name) => !inAll.includes(name) && !fields.has(name))).toEqual([]);
});

test("no line has a field whose value is never shown", () => {
  const censored =
    page
      .split("Fields named ")[1]
      ?.split(" are replaced")[0]
      ?.match(/\w+(?=`)/g) ?? [];
  const source = readFileSync(join(root, "src/platform/base/log.ts"), "utf8");
  const keys = /secretKeys = (\[.*\]);/.exec(source)?.[1] ?? "[]";
  expect(censored).toEqual(JSON.parse(keys));
  expect(censored.filter((name) => fields.has(name))).toEqual([]);
});
