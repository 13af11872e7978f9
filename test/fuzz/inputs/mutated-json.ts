/** JSON that is nearly valid: valid values, in which some parts are replaced, removed, added or repeated. */
import fc from "fast-check";
import { anyText, hardTexts } from "./mutated-text.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const hardNumbers = [0, -0, -1, 0.5, 1e21, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 5e-324];

/** An object or list that is nested so deep. */
const nested = (depth: number, isList: boolean): Json => {
  let value: Json = 1;
  for (let left = depth; left > 0; left -= 1) value = isList ? [value] : { a: value };
  return value;
};

/** A key as JSON.parse makes it: an own one, whatever its name. */
const withKey = (object: { [key: string]: Json }, key: string, value: Json): { [key: string]: Json } =>
  Object.fromEntries([...Object.entries(object), [key, value]]);

/** Any small JSON, hard values among it. */
export const anyJson: fc.Arbitrary<Json> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Json>(null, true, false, [], {}, ...hardNumbers, ...hardTexts) },
  { weight: 2, arbitrary: fc.integer() },
  { weight: 4, arbitrary: anyText() },
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json> },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(...hardTexts), fc.integer()).map(([key, value]) => withKey({}, key, value)),
  },
  { weight: 1, arbitrary: fc.integer({ min: 50, max: 3000 }).map((length) => "a".repeat(length)) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 20, max: 500 }).map((length) => Array.from({ length }, (_, index) => index)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.integer({ min: 50, max: 1500 }), fc.boolean())
      .map(([depth, isList]) => nested(depth, isList)),
  },
);

type Change = { share: number; kind: "replace" | "remove" | "add" | "repeat" | "swap"; key: string; by: Json };

const isObject = (value: Json): value is { [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** How many values there are in a value, itself included. */
const count = (value: Json): number => {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + count(inner), 1);
};

const changed = (value: Json, { kind, key, by }: Change): Json | undefined => {
  if (kind === "remove") return undefined;
  if (kind === "add" && isObject(value)) return withKey(value, key, by);
  if (kind === "add" && Array.isArray(value)) return [...value, by];
  if (kind === "repeat" && Array.isArray(value)) return [...value, ...value];
  if (kind === "swap" && isObject(value)) return Object.values(value);
  if (kind === "swap" && typeof value === "number") return `${value}`;
  if (kind === "swap" && typeof value === "string") return [value];
  return by;
};

/** Applies a change at the value of this number, in the order of a walk. */
const applyAt = (value: Json, number: number, change: Change): Json | undefined => {
  let left = number;
  const walk = (one: Json): Json | undefined => {
    if (left === 0) {
      left -= 1;
      return changed(one, change);
    }
    left -= 1;
    if (left < 0 || typeof one !== "object" || one === null) return one;
    if (Array.isArray(one)) return one.flatMap((inner) => inList(walk(inner)));
    return Object.fromEntries(
      Object.entries(one).flatMap(([key, inner]) => {
        const walked = walk(inner);
        return walked === undefined ? [] : [[key, walked]];
      }),
    );
  };
  return walk(value);
};

const inList = (value: Json | undefined): Json[] => (value === undefined ? [] : [value]);

/** JSON with up to so many changes, none among them. `keys`: names that objects of this kind have. */
export const mutatedJson = (
  valid: fc.Arbitrary<Json>,
  { keys = [], mostChanges = 3 }: { keys?: readonly string[]; mostChanges?: number } = {},
): fc.Arbitrary<Json> => {
  const change: fc.Arbitrary<Change> = fc.record({
    share: fc.integer({ min: 0, max: 0xffff }),
    kind: fc.constantFrom("replace", "replace", "remove", "add", "repeat", "swap"),
    key: keys.length > 0 ? fc.oneof(fc.constantFrom(...keys), anyText(8)) : anyText(8),
    by: anyJson,
  });
  return fc.tuple(valid, fc.array(change, { maxLength: mostChanges })).map(([value, changes]) =>
    changes.reduce<Json>((so, one) => {
      const number = Math.floor((count(so) * one.share) / 0x10000);
      return applyAt(so, number, one) ?? null;
    }, value),
  );
};
