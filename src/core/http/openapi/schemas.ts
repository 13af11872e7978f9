/** zod schemas as the JSON Schemas of an OpenAPI 3.1 document. */
import { z } from "zod";
import { documentRules, isClosed } from "../../../platform/kinds/document-rules.ts";
import { wireSchema } from "../../../platform/kinds/wire.ts";
import { Network, Viewport } from "../../model/settings/browser-settings.ts";
import { Telemetry } from "../../model/settings/telemetry.ts";

/** A JSON object of the document. */
export type Json = Record<string, unknown>;

/** The direction of a schema: a caller's request, or the answer to it. */
type Direction = "request" | "answer";

/** Shapes inside other schemas. Each place has its own derived schema, so they are found by their JSON Schema. */
const innerShapes: [string, z.ZodType][] = [
  ["Network", wireSchema(Network)],
  ["Telemetry", wireSchema(Telemetry)],
  ["Viewport", wireSchema(Viewport)],
];

/** True for a JSON object, not for a list. */
export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Removes bounds that only mean "an integer that JSON can represent". */
const dropSafeIntegerBounds = (schema: Json): void => {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
};

/** Whether the names of a map's entries have no rule: every name is a string. */
const isAnyName = (names: unknown): boolean => isObject(names) && Object.keys(names).every((key) => key === "type");

const hasFields = (schema: unknown): schema is { properties: Json; required?: string[] } =>
  isObject(schema) && isObject(schema.properties);

/** Merges an intersection of objects into one object, so that readers see a single list of fields. */
const mergeIntersection = (schema: Json): void => {
  const parts = schema.allOf;
  if (!Array.isArray(parts) || !parts.every(hasFields)) return;
  delete schema.allOf;
  Object.assign(schema, {
    type: "object",
    properties: Object.assign({}, ...parts.map((part) => part.properties)),
    required: parts.flatMap(({ required }) => required ?? []),
  });
};

const tidy = (schema: Json, { direction, isOpen }: { direction: Direction; isOpen: boolean }): void => {
  // The service ignores unknown fields of most requests, and answers may get new ones: so those objects are open.
  if (schema.additionalProperties === false && isOpen) delete schema.additionalProperties;
  if (isObject(schema.additionalProperties) && Object.keys(schema.additionalProperties).length === 0)
    schema.additionalProperties = true;
  if (schema.format === "date-time") delete schema.pattern;
  if (direction === "answer") delete schema.default;
  if (isAnyName(schema.propertyNames)) delete schema.propertyNames;
  delete schema["x-kubernetes-validations"];
  dropSafeIntegerBounds(schema);
  mergeIntersection(schema);
};

/** A reference to a schema of the document by its name. */
export const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const withoutDescription = ({ description, ...rest }: Json): string => JSON.stringify(rest, sortKeys);

/** Sorts keys, so that equal schemas have equal text: zod orders keywords by the order of calls. */
const sortKeys = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;

const shareIn = (node: unknown, known: Map<string, string>): unknown => {
  if (Array.isArray(node)) return node.map((item) => shareIn(item, known));
  return isObject(node) ? shareInner(node, known) : node;
};

/** Replaces each inner shape of `node` that is in `known` (text → name) by a reference. */
const shareInner = (node: Json, known: Map<string, string>): Json => {
  const name = isObject(node.properties) ? known.get(withoutDescription(node)) : undefined;
  if (name !== undefined) return { ...schemaRef(name), ...(node.description ? { description: node.description } : {}) };
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, shareIn(value, known)]));
};

/** zod's names of schemas plus its own metadata; zod's global registry would put `$ref` into CRDs too. */
const createNames = (given: Map<z.ZodType, string>): z.core.$ZodRegistry<{ id?: string | undefined }> => {
  const names = z.registry<{ id?: string | undefined }>();
  for (const [schema, id] of given) names.add(schema, { id });
  const own = names.get.bind(names);
  names.get = (schema) => ({ ...z.globalRegistry.get(schema), ...own(schema) });
  return names;
};

/** Collects the named schemas of one document while its parts are made. */
export type SchemaSet = {
  /** The JSON Schema of `schema`, with references to `components()`. `name`: makes it a component of that name. */
  add(schema: z.ZodType, direction: Direction, name?: string): Json;
  /** Every named schema so far, by name in the order of the alphabet. */
  components(): Record<string, Json>;
};

/** `given`: schemas that become components wherever they occur, with their names. */
export const createSchemaSet = (given: Map<z.ZodType, string>): SchemaSet => {
  const names = createNames(given);
  const components = new Map<string, Json>();
  const inner = new Map<string, string>();

  const convert = (schema: z.ZodType, direction: Direction): Json => {
    const made = z.toJSONSchema(schema, {
      io: direction === "request" ? "input" : "output",
      metadata: names,
      reused: "inline",
      override: ({ jsonSchema, zodSchema }) => {
        tidy(jsonSchema, { direction, isOpen: !isClosed(zodSchema) });
        Object.assign(jsonSchema, documentRules(zodSchema));
      },
    });
    return JSON.parse(JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/'));
  };

  const keep = (name: string, { id, ...schema }: Json): Json => {
    const component = shareInner(schema, inner);
    const known = components.get(name) ?? component;
    if (JSON.stringify(known) !== JSON.stringify(component)) throw new Error(`two schemas are named ${name}`);
    components.set(name, component);
    return schemaRef(name);
  };

  const add: SchemaSet["add"] = (schema, direction, name) => {
    if (name !== undefined && !names.has(schema)) names.add(schema, { id: name });
    const { $schema, $defs, id, ...rest } = convert(schema, direction);
    for (const [defName, definition] of Object.entries($defs ?? {})) keep(defName, definition);
    return typeof id === "string" ? keep(id, rest) : shareInner(rest, inner);
  };

  for (const [name, schema] of innerShapes) {
    const reference = add(schema, "request", name);
    inner.set(withoutDescription(components.get(name) ?? reference), name);
  }
  return {
    add,
    components: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
};
