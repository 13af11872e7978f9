import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  mergeTelemetry,
  resolveTelemetry,
  Telemetry,
  type TelemetryCategory,
  telemetryCategories,
} from "./telemetry.ts";

// TELEMETRY-1
test("there are ten categories, and each can be set", () => {
  const categories = [
    "captcha",
    "connection",
    "console",
    "control",
    "interaction",
    "network",
    "page",
    "platform",
    "screenshot",
    "system",
  ];
  expect(telemetryCategories).toEqual(categories);
  const browser = Object.fromEntries(categories.map((name) => [name, { enabled: true }]));
  expect(Telemetry.parse({ browser })).toEqual({ browser });
});

const merged = (current: Telemetry | undefined, patch: Telemetry | null | undefined): Telemetry | undefined => {
  const result = mergeTelemetry(current, patch);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.telemetry;
};

const captured = (telemetry: Telemetry | undefined): string[] =>
  telemetryCategories.filter((name: TelemetryCategory) => telemetry?.browser?.[name]?.enabled);

const defaults = ["captcha", "connection", "control", "system"];
const on = { enabled: true };
const off = { enabled: false };
const current = (): Telemetry | undefined => merged(undefined, { browser: { console: on, captcha: off } });
const exporting = (): Telemetry | undefined => merged(undefined, { export: { otlp: { destination: { id: "d" } } } });

describe("telemetry over what is present", () => {
  // POOL-PATCH-11
  test.each<[string, Telemetry | null | undefined]>([
    ["left out", undefined],
    ["null", null],
    ["{}", {}],
    ["an empty browser", { browser: {} }],
    ["a category that says nothing", { browser: { page: {}, control: { cdp: {} } } }],
    ["an empty export", { export: { otlp: {} } }],
  ])("stays as it is when it is %s", (_what, patch) => {
    expect(merged(current(), patch)).toEqual(current());
    expect(merged(undefined, patch)).toBeUndefined();
  });

  // TELEMETRY-3
  test("merges categories that come without enabled", () => {
    expect(captured(merged(current(), { browser: { page: on } }))).toEqual([
      "connection",
      "console",
      "control",
      "page",
      "system",
    ]);
  });

  // TELEMETRY-3
  test("starts again from the default set with enabled: true, given categories on top", () => {
    expect(captured(merged(current(), on))).toEqual(defaults);
    expect(captured(merged(current(), { ...on, browser: { network: on, system: off } }))).toEqual([
      "captcha",
      "connection",
      "control",
      "network",
    ]);
  });

  // TELEMETRY-7
  test("keeps export and storage when the categories start again", () => {
    const present = merged(exporting(), { storage: off });
    expect(merged(present, on)).toMatchObject({ export: { otlp: { destination: { id: "d" } } }, storage: off });
  });

  // TELEMETRY-4
  test("is cleared by enabled: false", () => {
    expect(merged(exporting(), off)).toBeUndefined();
  });

  test("stays, capturing nothing, when every category is turned off", () => {
    const none = Object.fromEntries(telemetryCategories.map((name) => [name, off]));
    expect(merged(exporting(), { browser: none })).toEqual({ ...exporting(), browser: none });
    const last = { browser: { captcha: off, connection: off, control: off, system: off } };
    const twice = merged(merged(merged(undefined, on), last), last);
    expect(captured(twice)).toEqual([]);
  });

  // TELEMETRY-4
  test("is refused with enabled: false and categories", () => {
    expect(mergeTelemetry(current(), { ...off, browser: { page: off } })).toEqual({
      ok: false,
      problems: [
        { path: ["telemetry", "browser"], message: "enabled: false cannot be combined with category settings" },
      ],
    });
  });
});

describe("telemetry where there is none", () => {
  // TELEMETRY-2
  test("has the default set with the given categories on top", () => {
    expect(merged(undefined, on)).toEqual({
      enabled: true,
      browser: Object.fromEntries(telemetryCategories.map((name) => [name, { enabled: defaults.includes(name) }])),
    });
    expect(captured(merged(undefined, { browser: { screenshot: on, captcha: off } }))).toEqual([
      "connection",
      "control",
      "screenshot",
      "system",
    ]);
  });

  // TELEMETRY-6, TELEMETRY-7
  test("is started by what wants events, and not by what wants none", () => {
    expect(captured(exporting())).toEqual(defaults);
    expect(captured(merged(undefined, { storage: on }))).toEqual(defaults);
    expect(merged(undefined, { storage: off, export: { otlp: off } })).toBeUndefined();
  });
});

describe("the methods that are left out of control", () => {
  const excluding = (...excludedMethods: string[]): Telemetry => ({
    browser: { control: { cdp: { excludedMethods } } },
  });

  // TELEMETRY-5
  test("replace those of before and leave the category as it is", () => {
    const quiet = merged(undefined, { browser: { control: off, page: on } });
    const patched = merged(merged(quiet, excluding("Input.insertText")), excluding("Page.navigate"));
    expect(patched?.browser?.control).toEqual({ enabled: false, cdp: { excludedMethods: ["Page.navigate"] } });
  });

  test("stay when only the flag changes", () => {
    const patched = merged(merged(undefined, excluding("Input.insertText")), { browser: { control: off } });
    expect(patched?.browser?.control).toEqual({ enabled: false, cdp: { excludedMethods: ["Input.insertText"] } });
  });
});

describe("an export", () => {
  const otlp = (current_: Telemetry | undefined, patch: NonNullable<Telemetry["export"]>["otlp"]) =>
    mergeTelemetry(current_, { export: { otlp: patch } });

  // TELEMETRY-6
  test("is turned on by a destination", () => {
    expect(exporting()?.export).toEqual({ otlp: { enabled: true, destination: { id: "d" } } });
  });

  test("takes a new destination whole", () => {
    expect(otlp(exporting(), { destination: { name: "n" } })).toMatchObject({
      telemetry: { export: { otlp: { enabled: true, destination: { name: "n" } } } },
    });
  });

  test("that is turned off forgets its destination", () => {
    expect(otlp(exporting(), off)).toMatchObject({ ok: true, telemetry: { export: { otlp: { enabled: false } } } });
    expect(merged(exporting(), { export: { otlp: off } })?.export?.otlp).not.toHaveProperty("destination");
  });

  // TELEMETRY-6
  test.each<[string, NonNullable<Telemetry["export"]>["otlp"], string]>([
    ["a destination and enabled: false", { ...off, destination: { id: "d" } }, "cannot be combined"],
    ["enabled: true and no destination", on, "needs a destination"],
    ["a destination without id and name", { destination: {} }, "exactly one"],
    ["a destination with id and name", { destination: { id: "a", name: "b" } }, "exactly one"],
  ])("is refused with %s", (_what, patch, message) => {
    expect(otlp(undefined, patch)).toEqual({
      ok: false,
      problems: [{ path: ["telemetry", "export", "otlp", "destination"], message: expect.stringContaining(message) }],
    });
  });

  test("may be confirmed without repeating the destination", () => {
    expect(otlp(exporting(), on)).toEqual({ ok: true, telemetry: exporting() });
  });
});

const flag = fc.option(fc.boolean(), { nil: undefined });
const compact = <T extends object>(value: T): T => JSON.parse(JSON.stringify(value));
const anyTelemetry: fc.Arbitrary<Telemetry> = fc
  .record(
    {
      enabled: fc.boolean(),
      browser: fc.dictionary(fc.constantFrom(...telemetryCategories), fc.record({ enabled: flag })),
      export: fc.record({
        otlp: fc.record({
          enabled: flag,
          destination: fc.option(fc.constantFrom({ id: "a" }, { name: "b" }), { nil: undefined }),
        }),
      }),
      storage: fc.record({ enabled: flag }),
    },
    { requiredKeys: [] },
  )
  .map(compact);

describe("whatever is merged", () => {
  test("the result is a resolved form that fits the schema and resolves to itself", () => {
    fc.assert(
      fc.property(anyTelemetry, anyTelemetry, (first, second) => {
        const base = mergeTelemetry(undefined, first);
        const result = mergeTelemetry(base.ok ? base.telemetry : undefined, second);
        fc.pre(result.ok && result.telemetry !== undefined);
        const telemetry = result.ok ? result.telemetry : undefined;
        expect(Telemetry.parse(telemetry)).toEqual(telemetry);
        expect(resolveTelemetry(telemetry)).toEqual(telemetry);
        expect(Object.keys(telemetry?.browser ?? {})).toEqual(telemetryCategories);
      }),
    );
  });

  test("the same patch twice is the same as once", () => {
    fc.assert(
      fc.property(anyTelemetry, anyTelemetry, (first, patch) => {
        const base = mergeTelemetry(undefined, first);
        const once = mergeTelemetry(base.ok ? base.telemetry : undefined, patch);
        fc.pre(once.ok);
        expect(mergeTelemetry(once.ok ? once.telemetry : undefined, patch)).toEqual(once);
      }),
    );
  });
});
