/**
 * Checks a pool's Chrome enterprise policies: their total size (LIMIT-6), their names (POOL-16), and the types of their
 * values (POOL-18). Chromium itself would ignore what it does not know or can't read, and tell nobody.
 */

import { problemAt, type SpecProblem } from "../../../../platform/rules/problem.ts";
import known from "./generated/chrome-policies.json" with { type: "json" };
import { type PolicyType, valueProblems } from "./policy-type.ts";
import { refusalOfPolicy } from "./refused-policies.ts";

/** Bytes of a policy as JSON (LIMIT-6). */
export const maxChromePolicyBytes = 5 * 1024 * 1024;

/** A request can contain very many bad names; the answer shows the first ones. */
const maxProblems = 20;

/**
 * Chromium reads no policy at all from a file whose values are nested deeper than 200; lists of objects count twice.
 */
const maxDepth = 100;

const policyName = /^[A-Z][A-Za-z0-9]{1,127}$/;

const types: Readonly<Record<string, PolicyType>> = known.policies as Record<string, PolicyType>;
const shared: Readonly<Record<string, PolicyType>> = known.shared as Record<string, PolicyType>;

/** Where Chromium takes less than its schema says. */
const narrower: Readonly<Record<string, PolicyType>> = {
  // CDP can open no tab in a browser that is always incognito (2).
  IncognitoModeAvailability: { type: "integer", minimum: 0, maximum: 1 },
  // Chromium crashes when one of both is missing.
  BrowsingDataLifetime: withRequired(types.BrowsingDataLifetime, ["data_types", "time_to_live_in_hours"]),
};

/** A list of objects, each of which needs these entries. */
function withRequired(type: PolicyType | undefined, required: string[]): PolicyType {
  if (!type || !("type" in type) || type.type !== "array" || !type.items) return { type: "array" };
  return { ...type, items: { ...type.items, required } as PolicyType };
}

/** The type of a policy's value; undefined for a policy that Chromium does not know. */
export const typeOfPolicy = (name: string): PolicyType | undefined =>
  Object.hasOwn(narrower, name) ? narrower[name] : Object.hasOwn(types, name) ? types[name] : undefined;

/** The names of all policies that Chromium knows. */
export const knownPolicies: readonly string[] = Object.keys(types);

/** Whether values are nested deeper than this. */
const isDeeperThan = (value: unknown, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  const inner = Array.isArray(value) ? value : Object.values(value);
  return inner.some((one) => isDeeperThan(one, depth - 1));
};

const entryProblems = (name: string, value: unknown): SpecProblem[] => {
  const refusal = refusalOfPolicy(name);
  const type = typeOfPolicy(name);
  const path = ["chromePolicy", name];
  if (refusal !== undefined) return [problemAt(["chromePolicy", name.slice(0, 128)], `is not allowed: ${refusal}`)];
  if (type) return valueProblems(path, value, { type, shared, most: maxProblems });
  if (policyName.test(name)) return [problemAt(path, `is no policy of Chromium ${known.chromium}`)];
  return [problemAt(["chromePolicy"], `${JSON.stringify(name.slice(0, 64))} is not the name of a policy`)];
};

/** The problems of a pool's `chromePolicy`; empty when there are none. */
export const chromePolicyProblems = (policy: Record<string, unknown>): SpecProblem[] => {
  if (isDeeperThan(policy, maxDepth))
    return [problemAt(["chromePolicy"], `must not be nested deeper than ${maxDepth}`)];
  if (Buffer.byteLength(JSON.stringify(policy)) > maxChromePolicyBytes)
    return [problemAt(["chromePolicy"], "must not exceed 5 MiB when serialized")];
  return Iterator.from(Object.entries(policy))
    .flatMap(([name, value]) => entryProblems(name, value))
    .take(maxProblems)
    .toArray();
};
