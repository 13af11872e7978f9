/** The types of policies' values, in the words of JSON Schema, and the check of a value against one. */
import type { Path } from "../resources/wire.ts";
import { problemAt, type SpecProblem } from "./problem.ts";

/** One type; Chromium's own schema has nothing else. `$ref`: one of the shared types, which contain themselves. */
export type PolicyType =
  | { $ref: string }
  | { type: "boolean" | "number" }
  | { type: "integer"; enum?: number[]; minimum?: number; maximum?: number }
  | { type: "string"; enum?: string[]; pattern?: string }
  | { type: "array"; items?: PolicyType; maxItems?: number }
  | {
      type: "object";
      properties?: Record<string, PolicyType>;
      patternProperties?: Record<string, PolicyType>;
      required?: string[];
      additionalProperties?: PolicyType;
    };

type Integer = Extract<PolicyType, { type: "integer" }>;
type Text = Extract<PolicyType, { type: "string" }>;
type List = Extract<PolicyType, { type: "array" }>;
type Entries = Extract<PolicyType, { type: "object" }>;

/** Types that contain themselves, by name. */
type SharedTypes = Readonly<Record<string, PolicyType>>;

/** Chromium's whole numbers have 32 bits. */
const least = -(2 ** 31);
const greatest = 2 ** 31 - 1;

/** Longest part of a path that an answer repeats. */
const maxKeyLength = 128;

const listed = (values: readonly (string | number)[]): string => `must be one of ${values.join(", ")}`;

const integerProblem = (value: unknown, type: Integer): string | undefined => {
  if (!Number.isInteger(value)) return "must be a whole number";
  const { enum: values, minimum = least, maximum = greatest } = type;
  if (values) return values.includes(value as number) ? undefined : listed(values);
  return (value as number) < minimum || (value as number) > maximum ? `must be ${minimum} to ${maximum}` : undefined;
};

const stringProblem = (value: unknown, type: Text): string | undefined => {
  if (typeof value !== "string") return "must be a string";
  // Chromium reads no policy at all from a file with half a surrogate pair.
  if (!value.isWellFormed()) return "must be text";
  if (type.enum) return type.enum.includes(value) ? undefined : listed(type.enum);
  return type.pattern === undefined || new RegExp(type.pattern).test(value) ? undefined : `must match ${type.pattern}`;
};

const arrayProblems = function* (path: Path, value: unknown, type: List, shared: SharedTypes): Generator<SpecProblem> {
  if (!Array.isArray(value)) return yield problemAt(path, "must be a list");
  if (type.maxItems !== undefined && value.length > type.maxItems)
    return yield problemAt(path, `must have ${type.maxItems} entries at most`);
  const { items } = type;
  if (items) for (const [index, entry] of value.entries()) yield* valueProblems([...path, index], entry, items, shared);
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The type of an entry of an object; undefined when it may not have the entry. An object without any known entry may have all. */
const typeOfEntry = (name: string, type: Entries): PolicyType | "any" | undefined => {
  const { properties, patternProperties, additionalProperties } = type;
  if (properties && Object.hasOwn(properties, name)) return properties[name];
  const matching = Object.entries(patternProperties ?? {}).find(([pattern]) => new RegExp(pattern).test(name));
  if (matching) return matching[1];
  return properties || patternProperties ? additionalProperties : (additionalProperties ?? "any");
};

const objectProblems = function* (
  path: Path,
  value: unknown,
  type: Entries,
  shared: SharedTypes,
): Generator<SpecProblem> {
  if (!isObject(value)) return yield problemAt(path, "must be an object");
  for (const name of type.required ?? [])
    if (!Object.hasOwn(value, name)) yield problemAt([...path, name], "is required");
  for (const [name, entry] of Object.entries(value)) {
    const entryPath = [...path, name.slice(0, maxKeyLength)];
    const entryType = typeOfEntry(name, type);
    if (entryType === undefined) yield problemAt(entryPath, "is not known to this policy");
    else if (!name.isWellFormed()) yield problemAt(entryPath, "must be text");
    else if (entryType !== "any") yield* valueProblems(entryPath, entry, entryType, shared);
  }
};

/** The problems of a value, one by one as they are asked for. */
export const valueProblems = function* (
  path: Path,
  value: unknown,
  type: PolicyType,
  shared: SharedTypes,
): Generator<SpecProblem> {
  if ("$ref" in type) {
    const meant = shared[type.$ref];
    if (meant) yield* valueProblems(path, value, meant, shared);
    return;
  }
  const problem = scalarProblem(value, type);
  if (problem !== undefined) yield problemAt(path, problem);
  if (type.type === "array") yield* arrayProblems(path, value, type, shared);
  if (type.type === "object") yield* objectProblems(path, value, type, shared);
};

const scalarProblem = (value: unknown, type: Exclude<PolicyType, { $ref: string }>): string | undefined => {
  switch (type.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "number":
      return typeof value === "number" ? undefined : "must be a number";
    case "integer":
      return integerProblem(value, type);
    case "string":
      return stringProblem(value, type);
    default:
      return undefined;
  }
};
