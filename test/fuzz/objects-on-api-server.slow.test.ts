/**
 * Made objects on a real API server: it stores them as the fuzzing says, and takes the status that a round makes of
 * them.
 */
import { randomInt } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kinds } from "../../src/cmd/features.ts";
import { structuralSchema } from "../../src/platform/kinds/crd.ts";
import type { AnyKind } from "../../src/platform/kinds/kind.ts";
import { KubeError } from "../../src/platform/kube/kube-error.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import type { ResourceType } from "../../src/platform/kube/resource-type.ts";
import { startTestControlPlane, type TestControlPlane } from "../crds/start-control-plane.ts";
import { partsOf, rounds } from "./targets/resources.ts";

/**
 * How many objects of a kind are stored, and how many are tried for that: rules of CRDs let few of some kinds through.
 */
const enough = 25;
const mostTries = 400;

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane?.stop());

type Schema = { [key: string]: unknown };

/** Keeps to the rules that one of two fields must be there, which by chance few objects do. */
const keepToChoices = (schema: Schema, value: unknown): unknown => {
  if (Array.isArray(value) && schema.items) return value.map((one) => keepToChoices(schema.items as Schema, one));
  const fields = schema.properties as Record<string, Schema> | undefined;
  if (typeof value !== "object" || value === null || !fields) return value;
  const kept = Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, keepToChoices(fields[name] ?? {}, one)]),
  );
  for (const { rule } of (schema["x-kubernetes-validations"] ?? []) as { rule: string }[]) {
    const [, one = "", other = ""] = /^has\(self\.(\w+)\) != has\(self\.(\w+)\)$/.exec(rule) ?? [];
    if (one in kept) delete kept[other];
    else if (one !== "" && !(other in kept)) kept[one] = fields[one]?.type === "integer" ? 1 : "one";
  }
  return kept;
};

/** Nested so deep that a comparison runs out of stack. */
const isDeep = (value: unknown): boolean => /\[{40}|(?:\{"a":){40}/.test(JSON.stringify(value));

/** A lone half of a UTF-16 pair is no text in UTF-8. */
const inUtf8 = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/gi, "$1\ufffd"));

type Any = KubeObject & { spec: object; status?: object };

/** What the server makes of a call; undefined when it refuses the object by a rule. */
const unlessInvalid = async (call: Promise<Any>): Promise<Any | undefined> => {
  try {
    return await call;
  } catch (error) {
    if (error instanceof KubeError && error.reason === "Invalid") return undefined;
    throw error;
  }
};

const namespaceOf = ({ namespaced }: AnyKind): { namespace?: string } => (namespaced ? { namespace: "default" } : {});

test.each(kinds.map((kind) => [kind.kind, kind] as const))("objects of the kind %s", async (_name, kind) => {
  const seed = randomInt(2 ** 31);
  const type = kind as unknown as ResourceType<Any>;
  let stored = 0;
  const schema = structuralSchema(kind.spec, "spec");
  for (const [index, { spec: any, status }] of fc.sample(partsOf(kind), { numRuns: mostTries, seed }).entries()) {
    const spec = keepToChoices(schema, any);
    if (isDeep([spec, status])) continue;
    const which = `seed ${seed}, object ${index}`;
    const metadata = { name: `o${seed}-${index}`, ...namespaceOf(kind) };
    const created = await unlessInvalid(plane.kube.create(type, { metadata, spec } as unknown as Any));
    // A rule of its CRD, or a name in a list that comes twice.
    if (!created) continue;
    if (stored === enough) break;
    stored += 1;
    expect(created.spec, which).toEqual(inUtf8(spec));
    const before = status === undefined ? created : { ...created, status: status as object };
    const known = await unlessInvalid(plane.kube.replace(type, before, { subresource: "status" }));
    if (!known) continue;
    const next = rounds[kind.kind]?.(known as never, known as never, { pods: ["idle", "leased"] as never });
    if (next === undefined) continue;
    await expect(
      plane.kube.replace(type, { ...known, status: next as object }, { subresource: "status" }),
      which,
    ).resolves.toMatchObject({ metadata });
  }
  expect(stored, `seed ${seed}`).toBeGreaterThan(0);
});
