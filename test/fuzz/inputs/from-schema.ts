/** Values that a JSON schema lets through: that of a CRD, or of a zod schema. */
import fc from "fast-check";
import { anyJson, type Json } from "./mutated-json.ts";
import { anyText } from "./mutated-text.ts";

type Schema = { [key: string]: unknown };

/** Longest list, and most entries of a free map, unless the schema asks for more. */
const mostItems = 4;

const schemasIn = (value: unknown): [string, Schema][] => Object.entries((value ?? {}) as Record<string, Schema>);

/** A text of at most so many characters as a schema counts them, and at least so many. */
const texts = ({ minLength = 0, maxLength, pattern, format }: Schema): fc.Arbitrary<string> => {
  if (format === "date-time")
    return fc
      .date({ min: new Date("1970-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
      .map((date) => date.toISOString());
  const [least, most] = [Number(minLength), maxLength === undefined ? 40 : Number(maxLength)];
  const fits = (text: string): boolean =>
    [...text].length >= least &&
    (maxLength === undefined || [...text].length <= most) &&
    (pattern === undefined || new RegExp(String(pattern)).test(text));
  const padded = (text: string): string => (text.length < least ? text.padEnd(least, "a") : text);
  if (pattern !== undefined) return fc.stringMatching(new RegExp(String(pattern)), { size: "small" }).filter(fits);
  return anyText(Math.min(most, 40)).map(padded).filter(fits);
};

const numbers = (schema: Schema): fc.Arbitrary<number> => {
  const { type, minimum, maximum, exclusiveMinimum } = schema;
  const least = typeof minimum === "number" ? minimum : undefined;
  const min = (least ?? (type === "integer" ? -(2 ** 31) : -1e9)) + (exclusiveMinimum === true ? 1 : 0);
  const max = typeof maximum === "number" ? maximum : 2 ** 31;
  if (type === "integer") return fc.oneof(fc.integer({ min, max: Math.min(max, min + 5) }), fc.integer({ min, max }));
  return fc.double({ min, max, noNaN: true, noDefaultInfinity: true });
};

const objects = (schema: Schema): fc.Arbitrary<Json> => {
  const { properties, required = [], additionalProperties } = schema;
  const fields = schemasIn(properties);
  if (fields.length === 0 && typeof additionalProperties === "object")
    return fc
      .array(fc.tuple(anyText(12), fromSchema(additionalProperties as Schema)), { maxLength: mostItems })
      .map((entries) => Object.fromEntries(entries));
  if (fields.length === 0) return fc.dictionary(anyText(12), anyJson, { maxKeys: mostItems }) as fc.Arbitrary<Json>;
  // A field that has a default need not be there.
  const isNeeded = ([name, field]: [string, Schema]): boolean =>
    (required as string[]).includes(name) && field.default === undefined;
  const each = fields.map(([name, field]) => {
    const value = fromSchema(field).map((one) => [[name, one]] as [string, Json][]);
    return isNeeded([name, field]) ? value : fc.option(value, { nil: [] as [string, Json][], freq: 2 });
  });
  return fc.tuple(...each).map((entries) => Object.fromEntries(entries.flat()));
};

const lists = ({ items, minItems = 0, maxItems }: Schema): fc.Arbitrary<Json> =>
  fc.array(items === undefined ? anyJson : fromSchema(items as Schema), {
    minLength: Number(minItems),
    maxLength: Math.max(Number(minItems), Math.min(maxItems === undefined ? mostItems : Number(maxItems), mostItems)),
  });

/** Values of one of the kinds that a schema names. */
export const fromSchema = (schema: Schema): fc.Arbitrary<Json> => {
  const { type, nullable, enum: values } = schema;
  const options = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  let value: fc.Arbitrary<Json>;
  if (Array.isArray(values)) value = fc.constantFrom(...(values as Json[]));
  else if (schema.const !== undefined) value = fc.constant(schema.const as Json);
  else if (options)
    value = fc.oneof(...options.map((one) => fromSchema({ ...schema, anyOf: undefined, oneOf: undefined, ...one })));
  else if (type === "string") value = texts(schema);
  else if (type === "integer" || type === "number") value = numbers(schema);
  else if (type === "boolean") value = fc.boolean();
  else if (type === "array") value = lists(schema);
  else if (type === "object") value = objects(schema);
  else value = anyJson;
  return nullable === true ? fc.option(value, { freq: 4 }) : value;
};
