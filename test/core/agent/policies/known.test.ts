/**
 * That Chromium judges policies as the API does: it heeds what the API accepts, and complains of what the API refuses.
 */
import { afterEach, expect, test } from "vitest";
import {
  chromePolicyProblems,
  knownPolicies,
  typeOfPolicy,
} from "../../../../src/core/model/settings/policies/chrome-policy.ts";
import type { PolicyType } from "../../../../src/core/model/settings/policies/policy-type.ts";
import { refusalOfPolicy } from "../../../../src/core/model/settings/policies/refused-policies.ts";
import { createTestAgents } from "../../../support/agent-process.ts";
import { type ShownPolicy, shownPolicies } from "../../../support/policy-page.ts";

const agents = createTestAgents();
afterEach(() => agents[Symbol.asyncDispose]());

const allowed = knownPolicies.filter((name) => refusalOfPolicy(name) === undefined);

/** A value of this type, `undefined` for a type that contains itself. */
const sampleOf = (type: PolicyType): unknown => {
  if ("$ref" in type) return undefined;
  switch (type.type) {
    case "boolean":
      return false;
    case "number":
      return 1;
    case "integer":
      return type.enum?.[0] ?? Math.max(type.minimum ?? 1, 1);
    case "string":
      return type.enum?.[0] ?? (type.pattern === undefined ? "https://a.test" : "a");
    case "array":
      return [type.items && sampleOf(type.items)].filter((entry) => entry !== undefined);
    case "object":
      return Object.fromEntries(
        Object.entries(type.properties ?? {}).flatMap(([name, entry]) => {
          const sample = sampleOf(entry);
          return sample === undefined ? [] : [[name, sample]];
        }),
      );
  }
};

/** A value of no type that this one could be taken for. */
const wrongFor = (type: PolicyType): unknown =>
  "type" in type && (type.type === "boolean" || type.type === "array") ? 7 : [];

const valuesOf = (make: (type: PolicyType) => unknown): Record<string, unknown> =>
  Object.fromEntries(
    allowed.map((name) => {
      const type = typeOfPolicy(name);
      return [name, type && make(type)];
    }),
  );

const shownOf = async (policy: Record<string, unknown>): Promise<Record<string, ShownPolicy>> => {
  const agent = await agents.start({}, { setup: { policy } });
  await agent.bind("s", 1);
  const browser = await agent.connect("s");
  return shownPolicies(await browser.newPage());
};

/** Errors by which Chromium says that it does not know a policy, or its type, or does not take it from where it is. */
const isUnheeded =
  /Unknown policy|Expected \w+ value|type mismatch|Schema validation|cloud|enrolled|level is not supp/i;

// POOL-18, POOL-19
test("Chromium heeds every policy that may be set, with a value of its type", async () => {
  const policy = valuesOf(sampleOf);
  expect(chromePolicyProblems(policy)).toEqual([]);
  const shown = await shownOf(policy);
  expect(allowed.filter((name) => !(name in shown))).toEqual([]);
  const unheeded = allowed.filter((name) => isUnheeded.test(shown[name]?.error ?? ""));
  expect(unheeded.map((name) => `${name}: ${shown[name]?.error}`)).toEqual([]);
});

// POOL-18
test("Chromium complains of every policy with a value of another type, and so does the API", async () => {
  const policy = valuesOf(wrongFor);
  const shown = await shownOf(policy);
  for (const name of allowed) expect(chromePolicyProblems({ [name]: policy[name] }), name).not.toEqual([]);
  // Chromium passes over a value of another type here, and says nothing.
  const silent = ["SyncTypesListDisabled"];
  expect(allowed.filter((name) => shown[name]?.error === undefined)).toEqual(silent);
});
