import { describe, expect, test } from "vitest";
import { z } from "zod";
import { kinds } from "../../cmd/features.ts";
import { crdOf, structuralSchema } from "./crd.ts";
import { validations } from "./kind.ts";

const named = z.string().meta({ id: "Named" });
const Node = z.object({
  get children() {
    return z.array(Node).optional();
  },
});

describe("what a CRD cannot say is refused with its place and name", () => {
  test.each<[string, z.ZodType, string]>([
    ["refine", z.string().refine(() => true), "refine"],
    ["superRefine on an object", z.object({}).superRefine(() => undefined), "refine"],
    ["transform", z.string().transform(Number), "transform"],
    ["preprocess", z.preprocess(String, z.string()), "preprocess"],
    ["codec", z.codec(z.string(), z.number(), { decode: Number, encode: String }), "codec"],
    ["coerce", z.coerce.number(), "coerce"],
    ["trim", z.string().trim(), "trim"],
    ["discriminatedUnion", z.discriminatedUnion("t", [z.object({ t: z.literal("a") })]), "discriminatedUnion"],
    ["union", z.union([z.string(), z.number()]), "union"],
    ["intersection", z.intersection(z.object({}), z.object({})), "intersection"],
    ["strictObject", z.strictObject({}), "strictObject"],
    ["looseObject", z.looseObject({}), "looseObject"],
    ["meta id", named, "$ref"],
    ["lazy", z.lazy(() => z.string()), "lazy"],
    ["a recursive object", Node, "recursive"],
    ["date", z.date(), "z.date"],
    ["bigint", z.bigint(), "z.bigint"],
    ["any", z.any(), "z.any"],
    ["tuple", z.tuple([z.string()]), "tuple"],
    ["catch", z.string().catch(""), "catch"],
    ["prefault", z.string().prefault(""), "prefault"],
    ["readonly", z.object({}).readonly(), "readonly"],
    ["duration", z.iso.duration(), "duration"],
    ["hostname", z.hostname(), "hostname"],
    ["base64", z.base64(), "base64"],
    ["look-ahead", z.string().regex(/^(?!a)/), "RE2"],
    ["regex flags", z.string().regex(/a/i), "flags"],
    ["record keys", z.record(z.enum(["a"]), z.string()), "key schema"],
  ])("%s", (_name, schema, what) => {
    const build = () =>
      structuralSchema(z.object({ list: z.array(z.object({ field: schema.optional() })) }), "Kind.spec");
    expect(build).toThrow(/Kind\.spec\.list\[\]\.field\S*: /);
    expect(build).toThrow(what);
  });

  test("all of them are named at once", () => {
    const schema = z.object({ a: z.string().trim(), b: z.object({ c: z.date() }) });
    expect(() => structuralSchema(schema, "spec")).toThrow(/spec\.a: .*\n.*spec\.b\.c: /);
  });
});

test("what a CRD can say is kept: bounds, defaults, descriptions, CEL rules, nullable, free values", () => {
  const schema = z.object({
    count: z.int().min(1).default(3).describe("How many."),
    name: z
      .string()
      .regex(/^[a-z]+$/)
      .max(9)
      .nullable(),
    free: z.record(z.string(), z.unknown()).optional(),
    at: z.iso.datetime().optional(),
    one: z
      .object({ id: z.string().optional() })
      .meta(validations({ rule: "has(self.id)", message: "m" }))
      .optional(),
  });
  expect(structuralSchema(schema, "spec")).toEqual({
    type: "object",
    required: ["name"],
    properties: {
      count: { type: "integer", minimum: 1, default: 3, description: "How many." },
      name: { type: "string", pattern: "^[a-z]+$", maxLength: 9, nullable: true },
      free: { type: "object", additionalProperties: { "x-kubernetes-preserve-unknown-fields": true } },
      at: { type: "string", format: "date-time" },
      one: {
        type: "object",
        properties: { id: { type: "string" } },
        "x-kubernetes-validations": [{ rule: "has(self.id)", message: "m" }],
      },
    },
  });
});

type Node = { description?: string; properties?: Record<string, Node>; items?: Node };

const undescribed = (node: Node, path: string): string[] => [
  ...(node.description || path.endsWith(".metadata") ? [] : [path]),
  ...Object.entries(node.properties ?? {}).flatMap(([key, child]) => undescribed(child, `${path}.${key}`)),
  ...(node.items?.properties ? undescribed(node.items, `${path}[]`) : []),
];

test.each(kinds.map((kind) => [kind.kind, kind] as const))(
  "every field of %s is described for kubectl explain",
  (name, kind) => {
    const crd = crdOf(kind) as { spec: { versions: { schema: { openAPIV3Schema: Node } }[] } };
    expect(crd.spec.versions.flatMap((version) => undescribed(version.schema.openAPIV3Schema, name))).toEqual([]);
  },
);
