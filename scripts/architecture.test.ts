import { describe, expect, test } from "vitest";
import { checkImports } from "./architecture/check-imports.ts";
import { checkLua } from "./architecture/check-lua.ts";
import { checkPurity } from "./architecture/check-purity.ts";
import { importsOf } from "./architecture/imports.ts";

const importProblems = (files: Record<string, string>): string[] => {
  const tree = new Map(Object.entries(files));
  return [...checkImports(tree), ...checkPurity(tree)];
};

describe("imports", () => {
  test("that follow the tree are fine", () =>
    expect(
      importProblems({
        "http/routes/things.ts": 'import { z } from "zod";\nimport { find } from "../../services/find-thing.ts";',
        "services/find-thing.ts": 'import { AppError } from "../errors.ts";\nimport { pods } from "../kube/types.ts";',
        "kube/types.ts": 'import type { Logger } from "../log.ts";\nimport { readFile } from "node:fs/promises";',
        "errors.ts": "",
        "log.ts": 'export type { Logger } from "pino";',
        "controllers/pool/plan.ts": 'import { fill } from "../../domain/fill.ts";\nimport { x } from "./seen.ts";',
        "controllers/pool/seen.ts": 'import type { Pod } from "../../kube/types.ts";',
        "domain/fill.ts": 'import { isIP, BlockList } from "node:net";\nimport { createHash } from "node:crypto";',
      }),
    ).toEqual([]));

  test.each([
    ["http/app.ts", "../kube/client.ts", "http may not"],
    ["gateway/gateway.ts", "../leases/lease-store.ts", "gateway may not"],
    ["services/a.ts", "../http/app.ts", "services may not"],
    ["controllers/pool/apply.ts", "../../services/a.ts", "controllers may not"],
    ["controllers/pool/apply.ts", "../vault/apply.ts", "a controller uses nothing of another kind's"],
    ["leases/store.ts", "../agent/browser.ts", "leases may not"],
    ["resources/pool.ts", "../kube/objects.ts", "resources may not"],
    ["kube/client.ts", "../log.ts", "kube may not"],
  ])("of %s from %s are refused", (file, target, reason) =>
    expect(importProblems({ [file]: `import {\n  a,\n  b,\n} from "${target}";` })).toEqual([
      expect.stringContaining(reason),
    ]),
  );

  test("of types are open where only the shape of data is shared", () => {
    expect(importProblems({ "resources/pool.ts": 'import type { Pod } from "../kube/objects.ts";' })).toEqual([]);
    expect(importProblems({ "http/app.ts": 'import type { Kube } from "../kube/client.ts";' })).toEqual([
      "http/app.ts imports types of kube/client.ts: http may not",
    ]);
  });

  test.each([
    ['import express from "express";', "express"],
    ['import type { Redis } from "ioredis";', "ioredis"],
    ['import { launch } from "puppeteer-core/lib/x.js";', "puppeteer-core"],
    ['const kube = await import("@kubernetes/client-node");', "@kubernetes/client-node"],
    ['export * from "undici";', "undici"],
    ['import "left-pad";', "left-pad, which has no home"],
  ])("of a package outside its home are refused: %s", (text, name) =>
    expect(importProblems({ "services/a.ts": text })).toEqual([expect.stringContaining(`imports ${name}`)]),
  );

  test("from a place without a rule are refused", () =>
    expect(importProblems({ "stuff/a.ts": 'import { b } from "../errors.ts";' })[0]).toContain("does not know"));

  test("that go round in a circle are refused, unless the circle is of types", () => {
    const circle = (keyword: string) => ({
      "kube/a.ts": 'import { b } from "./b.ts";',
      "kube/b.ts": 'import { c } from "./c.ts";',
      "kube/c.ts": `${keyword} { a } from "./a.ts";`,
    });
    expect(importProblems(circle("import"))).toEqual([
      "kube/a.ts imports itself: kube/a.ts → kube/b.ts → kube/c.ts → kube/a.ts",
    ]);
    expect(importProblems(circle("import type"))).toEqual([]);
  });

  test("are found over several lines, with and without names", () =>
    expect(
      importsOf("a/b.ts", 'import {\n  type A,\n  b,\n} from "../c.ts";\nexport type { D } from "./d.ts";').map(
        ({ target, isType }) => [target, isType],
      ),
    ).toEqual([
      ["c.ts", false],
      ["a/d.ts", true],
    ]));
});

describe("decisions", () => {
  test.each([
    ["domain/a.ts", 'import { readFile } from "node:fs/promises";'],
    ["controllers/pool/plan.ts", 'import { connect } from "node:net";'],
    ["controllers/pool/status.ts", "const now = Date.now();"],
    ["domain/a.ts", "const id = crypto.randomUUID();"],
  ])("do no I/O and take no time or chance themselves: %s, %s", (file, text) =>
    expect(importProblems({ [file]: text })).toEqual([expect.stringContaining("decides and must")]),
  );

  test("do none through what they import either", () =>
    expect(
      importProblems({
        "controllers/pool/plan.ts": 'import { a } from "./a.ts";',
        "controllers/pool/a.ts": 'import { b } from "../../kube/b.ts";',
        "kube/b.ts": 'import { request } from "node:http";',
      }),
    ).toEqual([
      "controllers/pool/plan.ts decides and must do no I/O: " +
        "controllers/pool/plan.ts → controllers/pool/a.ts → kube/b.ts → node:http",
    ]));

  test("may do so in tests", () =>
    expect(importProblems({ "domain/a.test.ts": 'import { readFile } from "node:fs/promises";' })).toEqual([]));
});

describe("a Lua script", () => {
  const header = "-- Does it.\n-- @include keys now\n-- ARGV[1] id\n-- ARGV[2] reason\n-- Returns 1.  O(1)\n";
  const includes = {
    "leases/scripts/includes/keys.lua": "-- Keys.\nlocal A = KEYS[1]",
    "leases/scripts/includes/now.lua": "-- Now.\n",
  };
  const luaProblems = (text: string): string[] =>
    checkLua(new Map(Object.entries({ "leases/scripts/do.lua": text, ...includes })));

  test("whose header says what it uses is fine", () =>
    expect(luaProblems(`${header}return { ARGV[1], ARGV[2] } -- not ARGV[3]\n`)).toEqual([]));

  test("must describe what it uses, and use what it describes", () =>
    expect(luaProblems(`${header}return { ARGV[1], ARGV[3] }\n`)).toEqual([
      "leases/scripts/do.lua uses ARGV[3], which its header does not describe",
      "leases/scripts/do.lua describes ARGV[2], which it does not use",
    ]));

  test("that reads the rest of its arguments says so", () => {
    const body = "for i = 3, #ARGV do f(ARGV[i]) end return { ARGV[1], ARGV[2] }\n";
    expect(luaProblems(header + body)).toEqual([expect.stringContaining("uses ARGV[…]")]);
    expect(luaProblems(`-- ARGV[3…] ids\n${header}${body}`)).toEqual([]);
  });

  test("has a header, says what it returns, and includes what is there", () => {
    expect(luaProblems("return 1\n")).toEqual([
      "leases/scripts/do.lua has no header",
      "leases/scripts/do.lua does not say what it returns",
    ]);
    expect(luaProblems("-- A.\n-- @include gone\n-- Returns 1.\nreturn 1\n")).toEqual([
      "leases/scripts/do.lua includes gone, which is not there",
    ]);
  });

  test("gets its keys by one name only", () =>
    expect(luaProblems(`-- KEYS[1] a\n${header}return { KEYS[1], ARGV[1], ARGV[2] }\n`)).toEqual([
      expect.stringContaining("uses KEYS besides"),
    ]));

  test("that is included takes arguments", () =>
    expect(checkLua(new Map([["leases/scripts/includes/a.lua", "-- A.\nreturn ARGV[1]\n"]]))).toEqual([
      "leases/scripts/includes/a.lua uses ARGV[1]; an include takes arguments",
    ]));
});
