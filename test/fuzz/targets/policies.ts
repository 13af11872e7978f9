import fc from "fast-check";
import { policiesOf } from "../../../src/core/agent/policy-files.ts";
import {
  chromePolicyProblems,
  knownPolicies,
  typeOfPolicy,
} from "../../../src/core/model/settings/policies/chrome-policy.ts";
import known from "../../../src/core/model/settings/policies/generated/chrome-policies.json" with { type: "json" };
import type { PolicyType } from "../../../src/core/model/settings/policies/policy-type.ts";
import { refusalOfPolicy } from "../../../src/core/model/settings/policies/refused-policies.ts";
import { packPolicy, unpackPolicy } from "../../../src/core/policies/policy-parts.ts";
import { BrowserSetup } from "../../../src/core/protocol/browser-setup.ts";
import { fromSchema } from "../inputs/from-schema.ts";
import { anyJson, type Json, mutatedJson } from "../inputs/mutated-json.ts";
import { anyText, mutatedText } from "../inputs/mutated-text.ts";
import { type FuzzTarget, must } from "../target.ts";

/** A type whose references are put in, so deep. */
const spelledOut = (type: unknown, depth: number): Json => {
  if (typeof type !== "object" || type === null) return type as Json;
  if (Array.isArray(type)) return type.map((one) => spelledOut(one, depth));
  const { $ref } = type as { $ref?: string };
  if ($ref !== undefined)
    return depth === 0 ? {} : spelledOut((known.shared as Record<string, unknown>)[$ref], depth - 1);
  return Object.fromEntries(Object.entries(type).map(([key, inner]) => [key, spelledOut(inner, depth)]));
};

const valuesOf = new Map<string, fc.Arbitrary<Json>>();
/** Values that a policy takes, and ones that it nearly takes. */
const policyValue = (name: string): fc.Arbitrary<Json> => {
  const made = valuesOf.get(name);
  if (made) return made;
  const type: PolicyType | undefined = typeOfPolicy(name);
  const value = type ? mutatedJson(fromSchema(spelledOut(type, 2) as { [key: string]: unknown })) : anyJson;
  valuesOf.set(name, value);
  return value;
};

const policy = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...knownPolicies) },
      { weight: 1, arbitrary: mutatedText(fc.constantFrom(...knownPolicies), { mostChanges: 2 }) },
      { weight: 1, arbitrary: anyText() },
    ),
    { maxLength: 4 },
  )
  .chain((names) => fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), policyValue(name)))))
  .map((entries) => Object.fromEntries(entries) as { [key: string]: Json });

/** Policies that are refused, in whatever company. */
const isRefused = (name: string): boolean => refusalOfPolicy(name) !== undefined || typeOfPolicy(name) === undefined;

const check = async (given: { [key: string]: Json }): Promise<void> => {
  const problems = chromePolicyProblems(given);
  for (const { path, message } of problems) {
    must(message.length > 0 && message.length < 5000, "a message that says nothing, or too much");
    must(JSON.stringify(path).length < 3000, "a path that is too long");
  }
  must(problems.length <= 20, `${problems.length} problems`);
  if (problems.length > 0) return;
  for (const name of Object.keys(given)) must(!isRefused(name), `${name} was not refused`);
  const text = JSON.stringify(given);
  must(text.isWellFormed() && !/\\ud[89a-f]/i.test(text.replace(/\\\\/g, "")), "text that Chromium can't read");
  if (text.length % 16 !== 0) return;
  const { ref, parts } = await packPolicy(given, { name: "pool", namespace: "n" }, "w");
  must(JSON.stringify((await unpackPolicy(ref, parts)).policy) === text, "another policy after packing");
  const setup = BrowserSetup.safeParse({ policy: JSON.parse(text) });
  if (setup.success) policiesOf(setup.data);
};

export const target: FuzzTarget<{ [key: string]: Json }> = {
  about:
    "Chrome policies of pools: each is refused with a reason or is what Chromium's own schema takes; none that the service manages gets through; packing gives the same again.",
  inputs: policy,
  open: () => ({ check }),
};
