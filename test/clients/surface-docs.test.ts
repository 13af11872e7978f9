/** docs/surface.md has every operation of the newest public client, and says of each block what becomes of it. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
const { operations } = JSON.parse(read("sdk-surface.json")) as { operations: Record<string, { method: string }> };
const methods = Object.values(operations).map(({ method }) => method);
const refused: Record<string, string[]> = JSON.parse(read("sdk-table.json"));

/** How the page writes each way of refusing. */
const words: Record<string, string> = {
  another_product: "another product",
  not_found: "not served",
  not_supported_here: "refused by name",
  conflict: "refused by name",
};

/** The rows of the table: the blocks that a row is for, its count, and what it says. */
const rows = read("../../docs/surface.md")
  .split("\n")
  .flatMap((line) => {
    const [, first = "", count, says = ""] = /^\| (`.+?) \| (\d+) \| (.+) \|$/.exec(line) ?? [];
    return count ? [{ first, names: [...first.matchAll(/`(.+?)`/g)].map(([, name = ""]) => name), count, says }] : [];
  });

const blockOf = (method: string): string => {
  const names = rows.flatMap((row) => row.names);
  const [name = ""] = names
    .filter((each) => method === each || method.startsWith(`${each}.`))
    .sort((a, b) => b.length - a.length);
  return name;
};

// HTTP-42
test("the page counts every operation once", () => {
  const counted = rows.map(({ first, names }) => [
    first,
    methods.filter((each) => names.includes(blockOf(each))).length,
  ]);
  expect(counted).toEqual(rows.map(({ first, count }) => [first, Number(count)]));
  expect(methods.filter((each) => blockOf(each) === "")).toEqual([]);
});

// HTTP-42
test("the page says what the test of the client expects", () => {
  for (const [code, names] of Object.entries(refused))
    for (const name of names) {
      const row =
        rows.find((each) => each.names.includes(name)) ?? rows.find((each) => each.names.includes(blockOf(name)));
      expect(`${name}: ${row?.says}`).toContain(words[code]);
    }
  const silent = rows.filter(({ says }) => says === "served");
  const isRefused = (method: string): boolean =>
    Object.values(refused)
      .flat()
      .some((name) => method === name || method.startsWith(`${name}.`));
  for (const { names } of silent)
    expect(methods.filter((method) => names.includes(blockOf(method)) && isRefused(method))).toEqual([]);
});
