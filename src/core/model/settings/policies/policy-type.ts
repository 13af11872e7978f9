/** The types of policies' values, in the words of JSON Schema, and the check of a value against one. */
import type { Path } from "../../../../platform/kinds/wire.ts";
import { problemAt, type SpecProblem } from "../../../../platform/rules/problem.ts";

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

/**
 * Where a check is, and what it has found. `path` is changed in place and copied for a problem alone: a policy can have
 * a hundred thousand values. `most`: the check ends at so many problems.
 */
type Check = { path: (string | number)[]; shared: SharedTypes; found: SpecProblem[]; most: number };

const isFull = ({ found, most }: Check): boolean => found.length >= most;

const add = (check: Check, message: string): void => {
  if (!isFull(check)) check.found.push(problemAt([...check.path], message));
};

/** Checks what is at `key` of the present place. */
const inside = (check: Check, key: string | number, work: () => void): void => {
  check.path.push(key);
  work();
  check.path.pop();
};

const checkList = (value: unknown, { items, maxItems }: List, check: Check): void => {
  if (!Array.isArray(value)) add(check, "must be a list");
  else if (maxItems !== undefined && value.length > maxItems) add(check, `must have ${maxItems} entries at most`);
  else if (items) checkItems(value, items, check);
};

const checkItems = (value: unknown[], items: PolicyType, check: Check): void => {
  for (let index = 0; index < value.length && !isFull(check); index += 1)
    inside(check, index, () => checkValue(value[index], items, check));
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The type of an entry of an object; undefined when it may not have the entry. An object without any known entry may
 * have all.
 */
const typeOfEntry = (name: string, type: Entries): PolicyType | "any" | undefined => {
  const { properties, patternProperties, additionalProperties } = type;
  if (properties && Object.hasOwn(properties, name)) return properties[name];
  const matching =
    patternProperties && Object.entries(patternProperties).find(([pattern]) => new RegExp(pattern).test(name));
  if (matching) return matching[1];
  return properties || patternProperties ? additionalProperties : (additionalProperties ?? "any");
};

const checkEntry = (name: string, entry: unknown, type: Entries, check: Check): void => {
  const entryType = typeOfEntry(name, type);
  if (entryType === undefined) add(check, "is not known to this policy");
  else if (!name.isWellFormed()) add(check, "must be text");
  else if (entryType !== "any") checkValue(entry, entryType, check);
};

const checkObject = (value: unknown, type: Entries, check: Check): void => {
  if (!isObject(value)) {
    add(check, "must be an object");
    return;
  }
  for (const name of type.required ?? [])
    if (!Object.hasOwn(value, name)) inside(check, name, () => add(check, "is required"));
  for (const name of Object.keys(value)) {
    if (isFull(check)) return;
    inside(check, name.slice(0, maxKeyLength), () => checkEntry(name, value[name], type, check));
  }
};

const checkValue = (value: unknown, type: PolicyType, check: Check): void => {
  if ("$ref" in type) {
    const meant = check.shared[type.$ref];
    if (meant) checkValue(value, meant, check);
    return;
  }
  const problem = scalarProblem(value, type);
  if (problem !== undefined) add(check, problem);
  if (type.type === "array") checkList(value, type, check);
  if (type.type === "object") checkObject(value, type, check);
};

/** The first problems of a value, `most` at most. `path`: where the value is. */
export const valueProblems = (
  path: Path,
  value: unknown,
  { type, shared, most }: { type: PolicyType; shared: SharedTypes; most: number },
): SpecProblem[] => {
  const check: Check = { path: [...path], shared, found: [], most };
  checkValue(value, type, check);
  return check.found;
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
