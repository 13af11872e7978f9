/**
 * Converts between the camelCase of YAML and the snake_case of the HTTP API. The schema decides which keys are field
 * names: the keys of free maps (Chrome policies, tags) are data and stay unchanged.
 */
import { z } from "zod";
import { copyDocumentRules, isClosed, textRule } from "./document-rules.ts";
import { isArraySchema, isObjectSchema, isRecordSchema, isWrapperSchema, type WrapperSchema } from "./zod-shape.ts";

type OptionalField<Field> =
  Field extends z.ZodDefault<infer Inner>
    ? z.ZodOptional<Inner>
    : Field extends z.ZodOptional
      ? Field
      : Field extends z.ZodType
        ? z.ZodOptional<Field>
        : never;

/**
 * Makes all fields of a schema optional, for a PATCH. zod's `partial()` would keep the defaults and overwrite omitted
 * fields with them.
 */
export const optionalFields = <Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>) => {
  // zod types the parts of a shape by their core; all of ours are of its classic API. The result type says what the
  // loop builds.
  const fields = Object.entries(schema.shape as z.ZodRawShape).map(([key, shape]) => {
    const field = shape as z.ZodType;
    const isWrapped = field instanceof z.ZodDefault || field instanceof z.ZodOptional;
    const inner = isWrapped ? (field.unwrap() as z.ZodType) : field;
    return [key, inner.describe(field.description ?? inner.description ?? "").optional()];
  });
  return z.object(Object.fromEntries(fields)) as z.ZodObject<{ [Key in keyof Shape]: OptionalField<Shape[Key]> }>;
};

type SnakeCase<Key extends string> = Key extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${SnakeCase<Tail>}`
    : `_${Lowercase<Head>}${SnakeCase<Tail>}`
  : Key;

/** `T` with its field names in snake_case at all levels; free maps (`Record<string, …>`) keep their keys. */
export type Wire<T> = T extends readonly (infer Item)[]
  ? Wire<Item>[]
  : T extends object
    ? string extends keyof T
      ? { [Key in keyof T]: Wire<T[Key]> }
      : { [Key in keyof T as Key extends string ? SnakeCase<Key> : Key]: Wire<T[Key]> }
    : T;

/** `maxSessionSeconds` → `max_session_seconds`. */
export const snakeCase = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

type Rename = (key: string) => { from: string; to: string };

type Shape = Record<string, z.ZodType>;

const convertObject = (shape: Shape, value: Record<string, unknown>, rename: Rename): unknown =>
  Object.fromEntries(
    Object.entries(shape).flatMap(([key, field]) => {
      const { from, to } = rename(key);
      const given = Object.hasOwn(value, from) ? value[from] : undefined;
      return given === undefined ? [] : [[to, convert(field, given, rename)]];
    }),
  );

const convert = (schema: z.ZodType, value: unknown, rename: Rename): unknown => {
  if (value === null || value === undefined) return value;
  if (isWrapperSchema(schema)) return convert(schema.unwrap(), value, rename);
  if (isArraySchema(schema) && Array.isArray(value)) return value.map((item) => convert(schema.element, item, rename));
  if (!isMap(value)) return value;
  if (isObjectSchema(schema)) return convertObject(schema.shape, value, rename);
  if (!isRecordSchema(schema)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, convert(schema.valueType, item, rename)]));
};

/**
 * The wire form of a `value` that fits `schema`. It leaves out undefined fields and fields that the schema does not
 * have.
 */
export const toWire = <S extends z.ZodType>(schema: S, value: z.output<S>): Wire<z.output<S>> =>
  // `Wire` says for types what `convert` does with values.
  convert(schema, value, (key) => ({ from: key, to: snakeCase(key) })) as Wire<z.output<S>>;

/** The inverse of `toWire`. `value` fits `wireSchema(schema)`. */
export const fromWire = <S extends z.ZodType>(schema: S, value: Wire<z.output<S>>): z.output<S> =>
  // The inverse of what `Wire` says for types.
  convert(schema, value, (key) => ({ from: snakeCase(key), to: key })) as z.output<S>;

/** Keeps only the description: Kubernetes metadata (CEL rules, list types) does not belong on the wire. */
const describedAs = (schema: z.ZodType, rebuilt: z.ZodType): z.ZodType =>
  schema.description === undefined ? rebuilt : rebuilt.describe(schema.description);

const rebuildWrapper = (schema: WrapperSchema): z.ZodType => {
  const inner = rebuild(schema.unwrap());
  if (schema instanceof z.ZodOptional) return inner.optional();
  if (schema instanceof z.ZodNullable) return inner.nullable();
  return inner.default(toWire(schema.unwrap(), schema.def.defaultValue));
};

const rebuildInside = (schema: z.ZodType): z.ZodType => {
  if (isWrapperSchema(schema)) return rebuildWrapper(schema);
  if (isObjectSchema(schema)) {
    const shape = Object.entries(schema.shape).map(([key, field]) => [snakeCase(key), rebuild(field)]);
    return (isClosed(schema) ? z.strictObject : z.object)(Object.fromEntries(shape));
  }
  if (isArraySchema(schema)) return schema.clone({ ...schema.def, element: rebuild(schema.element) });
  if (isRecordSchema(schema)) return schema.clone({ ...schema.def, valueType: rebuild(schema.valueType) });
  const leaf = schema.clone({ ...schema.def });
  const rule = textRule(schema);
  if (!rule) return leaf;
  const pattern = new RegExp(rule.pattern);
  return leaf.refine((text) => typeof text !== "string" || !pattern.test(text), rule.message);
};

const rebuild = (schema: z.ZodType): z.ZodType => describedAs(schema, copyDocumentRules(schema, rebuildInside(schema)));

/**
 * The schema of the same data on the wire: snake_case fields, with checks, defaults and descriptions kept.
 * Unknown fields are ignored, but for those of a `closedObject`. Only for schemas that crd.ts allows.
 */
export const wireSchema = <S extends z.ZodType>(schema: S): z.ZodType<Wire<z.output<S>>, Wire<z.input<S>>> =>
  // `Wire` says for types what `rebuild` does with schemas.
  rebuild(schema) as unknown as z.ZodType<Wire<z.output<S>>, Wire<z.input<S>>>;

/** A place inside a value: field names, map keys and list indexes from the outside in. */
export type Path = readonly (string | number)[];

/** `["network", "private_hosts", 3]` → `network.private_hosts[3]`. */
export const joinPath = (path: Path): string =>
  path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? key : `${text}.${key}`),
    "",
  );

const stepInto = (
  schema: z.ZodType | undefined,
  key: string | number,
): { key: string | number; next: z.ZodType | undefined } => {
  if (!schema) return { key, next: undefined };
  if (isWrapperSchema(schema)) return stepInto(schema.unwrap(), key);
  if (isArraySchema(schema)) return { key, next: schema.element };
  if (isObjectSchema(schema) && typeof key === "string") return { key: snakeCase(key), next: schema.shape[key] };
  return { key, next: isRecordSchema(schema) ? schema.valueType : undefined };
};

/** The same place on the wire: `path` follows `schema`, and only its field names change. */
export const wirePath = (schema: z.ZodType, path: Path): Path => {
  const [first, ...rest] = path;
  if (first === undefined) return [];
  const { key, next } = stepInto(schema, first);
  return [key, ...(next ? wirePath(next, rest) : rest)];
};
