/**
 * The fields of a body or a query that its schema does not know: the service ignores them, and names them in the header
 * `X-Ignored-Fields` and in the log line of the request (HTTP-6). A misspelled field is seen that way, without refusing
 * clients that are newer than this service.
 */
import { z } from "zod";
import { joinPath, type Path } from "../../platform/kinds/wire.ts";
import { isArraySchema, isObjectSchema, isRecordSchema, isWrapperSchema } from "../../platform/kinds/zod-shape.ts";

/** So many are named: the header stays small. */
const mostNamed = 20;

/** Longest name of a field in the header, characters. */
const longestName = 100;

/** Of a route. */
type Schemas = { body?: z.ZodType | undefined; query?: z.ZodType | undefined };

const nothing = z.object({});

/** Forms of schemas that were asked for: there are as many as routes have fields. */
const knownForms = new WeakMap<z.ZodType, z.ZodType[]>();

/** One way in which a schema reads a value; a value that fits one of several forms is known to it. */
const formsOf = (schema: z.ZodType): z.ZodType[] => {
  const forms = knownForms.get(schema) ?? findForms(schema);
  knownForms.set(schema, forms);
  return forms;
};

const findForms = (schema: z.ZodType): z.ZodType[] => {
  if (isWrapperSchema(schema)) return formsOf(schema.unwrap());
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap(formsOf);
  if (schema instanceof z.ZodIntersection)
    return [schema.def.left as z.ZodType, schema.def.right as z.ZodType].flatMap(formsOf);
  // Of a preprocessed value the inner schema is that of the result; of a transformed one, that of the value.
  if (schema instanceof z.ZodPipe)
    return formsOf((schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in) as z.ZodType);
  return [schema];
};

/** The schemas of a field, by all forms that have it; undefined when none has. */
const fieldForms = (objects: z.ZodObject<Record<string, z.ZodType>>[], key: string): z.ZodType[] | undefined => {
  const having = objects.filter(({ shape }) => Object.hasOwn(shape, key));
  return having.length === 0 ? undefined : having.flatMap(({ shape }) => formsOf(shape[key] as z.ZodType));
};

/**
 * What there may be inside of a value: schemas of the fields that are known, and those of all entries of a list or a
 * free map.
 */
const inside = (forms: z.ZodType[], value: object) => {
  const entries = Array.isArray(value)
    ? forms.filter(isArraySchema).flatMap(({ element }) => formsOf(element))
    : forms.filter(isRecordSchema).flatMap(({ valueType }) => formsOf(valueType));
  const objects = Array.isArray(value) ? [] : forms.filter(isObjectSchema);
  const isKnown = Array.isArray(value) || entries.length > 0;
  return {
    isLookedAt: objects.length > 0 || entries.some(holdsFields),
    objects,
    entries: isKnown ? entries : undefined,
  };
};

const within = function* (forms: z.ZodType[], value: unknown, path: Path): Generator<Path> {
  if (typeof value !== "object" || value === null) return;
  const { isLookedAt, objects, entries } = inside(forms, value);
  if (!isLookedAt) return;
  for (const [key, item] of Object.entries(value)) {
    const place = [...path, Array.isArray(value) ? Number(key) : key];
    const known = fieldForms(objects, key) ?? entries;
    if (known) yield* within(known, item, place);
    else yield place;
  }
};

/** Whether there can be fields inside: free maps and lists of texts may be long, and nothing in them is looked at. */
const holdsFields = (form: z.ZodType): boolean =>
  isObjectSchema(form) ||
  (isArraySchema(form) && formsOf(form.element).some(holdsFields)) ||
  (isRecordSchema(form) && formsOf(form.valueType).some(holdsFields));

/** Visible characters of ASCII without the comma, as a header needs them; anything else is percent-encoded. */
const inHeader = (path: Path): string =>
  joinPath(path)
    .toWellFormed()
    .slice(0, longestName)
    .replace(/[^\u0021-\u002b\u002d-\u007e]/gu, (character) => encodeURIComponent(character.toWellFormed()));

const placesIn = function* (
  { body: bodySchema = nothing, query: querySchema = nothing }: Schemas,
  { body, query }: { body: unknown; query?: unknown },
): Generator<string> {
  for (const path of within(formsOf(bodySchema), body, [])) yield inHeader(path);
  for (const path of within(formsOf(querySchema), query, [])) yield `?${inHeader(path)}`;
};

/**
 * The value of `X-Ignored-Fields`: the first 20 fields of a body and, with `?` before them, of a query, with commas
 * between them; undefined when every field is known.
 */
export const ignoredFields = (schemas: Schemas, given: { body: unknown; query?: unknown }): string | undefined => {
  const named = [...placesIn(schemas, given).take(mostNamed)];
  return named.length === 0 ? undefined : named.join(", ");
};
