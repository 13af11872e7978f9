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
        "features/things/routes.ts": 'import { z } from "zod";\nimport { find } from "./find-thing.ts";',
        "features/things/find-thing.ts": 'import { pods } from "../../platform/kube/types.ts";',
        "platform/kube/types.ts":
          'import type { Logger } from "../base/log.ts";\nimport { readFile } from "node:fs/promises";',
        "platform/base/log.ts": 'export type { Logger } from "pino";',
        "core/pools/plan/plan.ts": 'import { fill } from "../../model/pools/fill.ts";\nimport { x } from "../seen.ts";',
        "core/pools/seen.ts": 'import type { Pod } from "../../platform/kube/types.ts";',
        "core/model/pools/fill.ts":
          'import { isIP, BlockList } from "node:net";\nimport { createHash } from "node:crypto";',
      }),
    ).toEqual([]));

  test.each([
    ["features/proxies/routes.ts", "../../platform/kube/client.ts", "calls use cases"],
    ["core/api/pools.ts", "../leases/lease-store.ts", "calls use cases"],
    ["core/pools/controller.ts", "../sessions/a.ts", "meet in data only"],
    ["core/agent/browser.ts", "../leases/store.ts", "costs memory"],
    ["features/sites/agent/a.ts", "../find-site.ts", "costs memory"],
    ["core/leases/store.ts", "../../platform/kube/client.ts", "know no API server"],
    ["features/proxies/a.ts", "../vaults/b.ts", "proxies uses nothing of vaults"],
  ])("of %s from %s are refused", (file, target, reason) =>
    expect(importProblems({ [file]: `import {\n  a,\n  b,\n} from "${target}";` })).toEqual([
      expect.stringContaining(reason),
    ]),
  );

  test("of types are open where only the shape of data is shared", () =>
    expect(
      importProblems({ "core/leases/pool.ts": 'import type { Pod } from "../../platform/kube/objects.ts";' }),
    ).toEqual([]));

  test.each([
    ['import express from "express";', "express"],
    ['import type { Redis } from "ioredis";', "ioredis"],
    ['import { pino } from "pino/lib/x.js";', "pino"],
    ['const kube = await import("@kubernetes/client-node");', "@kubernetes/client-node"],
    ['export * from "undici";', "undici"],
    ['import "left-pad";', "left-pad, which has no home"],
  ])("of a package outside its home are refused: %s", (text, name) =>
    expect(importProblems({ "core/metrics/a.ts": text })).toEqual([expect.stringContaining(`imports ${name}`)]),
  );

  test("by which an agent loads at once what it needs later are refused", () => {
    const agent = (text: string) => ({
      "cmd/serve-browser.ts": 'import { make } from "../features/things/agent/make.ts";',
      "features/things/agent/make.ts": text,
      "features/things/calls.ts": "export const calls = 1;",
      "features/files/calls.ts": 'import type { calls } from "../things/calls.ts";',
    });
    expect(
      importProblems(agent('import { calls } from "../../files/calls.ts";')).filter((text) => text.includes("→")),
    ).toEqual([
      "features/files/calls.ts is loaded with each agent: cmd/serve-browser.ts → features/things/agent/make.ts → features/files/calls.ts",
    ]);
    const later = agent('export const calls = () => import("../../files/calls.ts");');
    expect(importProblems(later).filter((text) => text.includes("→"))).toEqual([]);
  });

  test("that go round in a circle are refused, unless the circle is of types", () => {
    const circle = (keyword: string) => ({
      "platform/kube/a.ts": 'import { b } from "./b.ts";',
      "platform/kube/b.ts": 'import { c } from "./c.ts";',
      "platform/kube/c.ts": `${keyword} { a } from "./a.ts";`,
    });
    expect(importProblems(circle("import"))).toEqual([
      "platform/kube/a.ts imports itself: " +
        "platform/kube/a.ts → platform/kube/b.ts → platform/kube/c.ts → platform/kube/a.ts",
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
    ["core/model/a.ts", 'import { readFile } from "node:fs/promises";'],
    ["core/pools/plan/plan.ts", 'import { connect } from "node:net";'],
    ["core/pools/plan/status.ts", "const now = Date.now();"],
    ["core/model/a.ts", "const id = crypto.randomUUID();"],
  ])("do no I/O and take no time or chance themselves: %s, %s", (file, text) =>
    expect(importProblems({ [file]: text })).toEqual([expect.stringContaining("decides and must")]),
  );

  test("do none through what they import either", () =>
    expect(
      importProblems({
        "core/pools/plan/plan.ts": 'import { a } from "../a.ts";',
        "core/pools/a.ts": 'import { b } from "../../platform/kube/b.ts";',
        "platform/kube/b.ts": 'import { request } from "node:http";',
      }),
    ).toEqual([
      "core/pools/plan/plan.ts decides and must do no I/O: " +
        "core/pools/plan/plan.ts → core/pools/a.ts → platform/kube/b.ts → node:http",
    ]));

  test("may do so in tests", () =>
    expect(importProblems({ "core/model/a.test.ts": 'import { readFile } from "node:fs/promises";' })).toEqual([]));
});

describe("a Lua script", () => {
  const header = "-- Does it.\n-- @include keys now\n-- ARGV[1] id\n-- ARGV[2] reason\n-- Returns 1.  O(1)\n";
  const includes = {
    "core/leases/scripts/includes/keys.lua": "-- Keys.\nlocal A = KEYS[1]",
    "core/leases/scripts/includes/now.lua": "-- Now.\n",
  };
  const luaProblems = (text: string): string[] =>
    checkLua(new Map(Object.entries({ "core/leases/scripts/do.lua": text, ...includes })));

  test("whose header says what it uses is fine", () =>
    expect(luaProblems(`${header}return { ARGV[1], ARGV[2] } -- not ARGV[3]\n`)).toEqual([]));

  test("must describe what it uses, and use what it describes", () =>
    expect(luaProblems(`${header}return { ARGV[1], ARGV[3] }\n`)).toEqual([
      "core/leases/scripts/do.lua uses ARGV[3], which its header does not describe",
      "core/leases/scripts/do.lua describes ARGV[2], which it does not use",
    ]));

  test("that reads the rest of its arguments says so", () => {
    const body = "for i = 3, #ARGV do f(ARGV[i]) end return { ARGV[1], ARGV[2] }\n";
    expect(luaProblems(header + body)).toEqual([expect.stringContaining("uses ARGV[…]")]);
    expect(luaProblems(`-- ARGV[3…] ids\n${header}${body}`)).toEqual([]);
  });

  test("has a header, says what it returns, and includes what is there", () => {
    expect(luaProblems("return 1\n")).toEqual([
      "core/leases/scripts/do.lua has no header",
      "core/leases/scripts/do.lua does not say what it returns",
    ]);
    expect(luaProblems("-- A.\n-- @include gone\n-- Returns 1.\nreturn 1\n")).toEqual([
      "core/leases/scripts/do.lua includes gone, which is not there",
    ]);
  });

  test("gets its keys by one name only", () =>
    expect(luaProblems(`-- KEYS[1] a\n${header}return { KEYS[1], ARGV[1], ARGV[2] }\n`)).toEqual([
      expect.stringContaining("uses KEYS besides"),
    ]));

  test("that is included takes arguments", () =>
    expect(checkLua(new Map([["core/leases/scripts/includes/a.lua", "-- A.\nreturn ARGV[1]\n"]]))).toEqual([
      "core/leases/scripts/includes/a.lua uses ARGV[1]; an include takes arguments",
    ]));
});
