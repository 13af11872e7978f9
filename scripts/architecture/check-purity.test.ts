import { describe, expect, test } from "vitest";
import { checkPurity } from "./check-purity.ts";

const problems = (files: Record<string, string>): string[] => checkPurity(new Map(Object.entries(files)));

/** A plan that loads a file which itself decides nothing. */
const planWith = (helper: string): Record<string, string> => ({
  "core/pools/plan/starts.ts": 'import { a } from "../pod/labels.ts";',
  "core/pools/pod/labels.ts": helper,
});

describe("a file that a decision loads", () => {
  test.each([
    "export const a = () => Date.now();",
    "export const a = (now = Date.now) => now();",
    "export const { now } = Date;",
    'export const a = () => Date["now"]();',
    "const Clock = Date;\nexport const a = () => new Clock();",
    "export const a = () => new Date();",
    "export const a = () => new Date(...[]);",
    "export const a = () => Date();",
    "export const a = () => Math.random();",
    "export const { random: a } = Math;",
    "export const a = (name: keyof Math) => Math[name];",
    "export const a = () => performance.now();",
    "export const a = () => globalThis.performance.now();",
    "export const a = () => crypto.randomUUID();",
    "export const a = () => setTimeout(() => {}, 1);",
    "export const a = () => AbortSignal.timeout(1);",
    'export const a = () => fetch("http://x");',
    "export const a = () => console.log(1);",
    "export const a = () => process.env.A;",
    "export const { env } = process;",
    "export const a = () => (process as NodeJS.Process).pid;",
  ])("reads no clock, no chance and nothing outside: %s", (helper) =>
    expect(problems(planWith(helper))).toEqual([
      expect.stringMatching(/^core\/pools\/pod\/labels\.ts:\d decides and must be handed what it reads/),
    ]),
  );

  test.each([
    'import { randomInt } from "node:crypto";',
    'import { randomBytes as bytes } from "node:crypto";',
    'import * as crypto from "node:crypto";',
    'import crypto from "node:crypto";',
    'export { randomUUID } from "node:crypto";',
    'import { setTimeout } from "node:timers/promises";',
    'import { performance } from "node:perf_hooks";',
    'import { createConnection, isIP } from "node:net";',
    'import "node:fs";',
    'export const a = () => import("node:fs");',
    "export const a = (name: string) => import(name);",
    'import { Redis } from "ioredis";',
  ])("loads nothing that does: %s", (helper) =>
    expect(problems(planWith(helper))).toEqual([expect.stringContaining("decides and must do no I/O")]),
  );

  test.each([
    "export const a = (text: string) => new Date(text).getTime() + Date.parse(text) + Math.max(1, 2);",
    "export const a = (value: unknown): value is Date => value instanceof Date;",
    "export const a = (deps: { fetch(): void; process: { pid: number } }) => deps.fetch();",
    "export const a = { console: 1, performance() {} };",
    'export const a = AbortSignal.abort("x");',
    'export type A = typeof process | NodeJS.Process;\nexport const a = "Date.now()"; // Date.now()',
    'import { createHash } from "node:crypto";\nimport { isIP, BlockList } from "node:net";',
    'import type { Pod } from "../../../kube/client.ts";\nimport type { Redis } from "ioredis";',
  ])("may do the rest: %s", (helper) =>
    expect(
      problems({ ...planWith(helper), "kube/client.ts": "export const a = () => fetch(process.env.URL);" }),
    ).toEqual([]),
  );

  test("is told of with the way to it", () =>
    expect(
      problems({
        "core/model/a.ts": 'export { b } from "./b.ts";',
        "core/model/b.ts": 'import { c } from "../../platform/kinds/c.ts";',
        "platform/kinds/c.ts": "\nexport const c = () => Date.now();",
      }),
    ).toEqual([
      "platform/kinds/c.ts:2 decides and must be handed what it reads of clock, chance and the outside: Date.now: " +
        "core/model/b.ts → platform/kinds/c.ts",
    ]));
});

test.each([
  "core/model/totp.ts",
  "controllers/vault/status.ts",
  "core/pools/plan/plan.ts",
  "core/pools/observe/node-state.ts",
  "core/pools/observe/pod-state.ts",
  "core/pools/observe/refusal.ts",
  "core/pools/apply/condition-events.ts",
  "core/leases/diagnose.ts",
  "core/leases/inspect.ts",
])("%s decides", (file) => expect(problems({ [file]: "const a = Math.random();" })).toHaveLength(1));

test("what no decision loads may do as it likes", () =>
  expect(problems({ "kube/a.ts": 'import "node:fs";\nconst a = Date.now();' })).toEqual([]));
