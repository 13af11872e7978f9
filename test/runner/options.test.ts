import { expect, test } from "vitest";
import { UsageError } from "../support/command-line.ts";
import { readOptions } from "./options.ts";

test.each([
  [[], { what: "quick", isWatched: false, vitest: [] }],
  [["--all", "--retry=1"], { what: "all", vitest: ["--retry=1"] }],
  [["src/domain", "test/features/vaults/fill"], { what: "paths", paths: ["src/domain", "test/features/vaults/fill"] }],
  [
    ["-t", "a name", "src/features/vaults/fill"],
    { what: "paths", paths: ["src/features/vaults/fill"], vitest: ["-t", "a name"] },
  ],
  [["--slow-of", "4", "--seed=7"], { what: "slow", draw: { oneOf: 4, seed: "7" } }],
  [["--related", "a.ts", "--related=b.ts", "--watch"], { what: "related", files: ["a.ts", "b.ts"], isWatched: true }],
  [["--rule", "LEASE-33"], { what: "rules", rules: ["LEASE-33"] }],
])("%j selects", (argv, expected) => {
  expect(readOptions(argv)).toMatchObject({ do: "run", ...expected });
});

test("--help runs nothing", () => expect(readOptions(["--all", "--help"])).toEqual({ do: "help" }));

test.each([
  [["--all", "src/domain"], /one of --all/],
  [["--slow-of", "4"], /--seed is missing/],
  [["--slow-of", "x", "--seed", "1"], /--slow-of x/],
  [["--related"], /related/],
])("%j is refused", (argv, message) => {
  expect(() => readOptions(argv)).toThrow(UsageError);
  expect(() => readOptions(argv)).toThrow(message);
});
