/** The OpenAPI 3.1 document of the API, made from the routes' contracts. */
import type { z } from "zod";
import packageJson from "../../../package.json" with { type: "json" };
import { documentRules } from "../../platform/kinds/document-rules.ts";
import { nameAnswers, requestName } from "./openapi/answer-names.ts";
import { errorAnswers, errorHeaderSchemas, errorSchema } from "./openapi/error-answers.ts";
import { createSchemaSet, isObject, type Json, type SchemaSet } from "./openapi/schemas.ts";
import { isRepeatable, type Route } from "./route.ts";

const introduction =
  "Keeps real browsers warm and hands them out, one holder at a time. Create a pool, acquire a browser from it, connect " +
  "any CDP client to `cdp_ws_url`, and release it when done.";

const sharedParameters: Record<string, Json> = {
  Project: {
    name: "X-Kernel-Project-Id",
    in: "header",
    description: "Id or name of the project. Left out: the key's own project, else the default one.",
    schema: { type: "string" },
  },
  ProjectName: {
    name: "X-Kernel-Project",
    in: "header",
    description: "The same under the name that newer clients use. With both headers, both must name one project.",
    schema: { type: "string" },
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "The same key with the same body gets the first answer again, for 24 hours. An empty one counts as none.",
    schema: { type: "string", maxLength: 255 },
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description: "The id of the last event that the reader has seen: the stream goes on after it.",
    schema: { type: "string", maxLength: 64 },
  },
};

const sharedHeaders: Record<string, Json> = {
  ...errorHeaderSchemas,
  "X-Has-More": { description: "Whether a further page follows.", schema: { type: "boolean" } },
  "X-Ignored-Fields": {
    description:
      "Fields of the body, and with `?` of the query, that this operation does not know: the first 20, with commas between them. Left out: none.",
    schema: { type: "string" },
  },
  "X-Next-Cursor": {
    description: "`cursor` of the next page; left out on the last one.",
    schema: { type: "string" },
  },
  "X-Next-Page-Token": {
    description: "`page_token` of the next page; left out on the last one.",
    schema: { type: "string" },
  },
  "X-Next-Offset": {
    description: "`offset` of the next page; 0 on the last one.",
    schema: { type: "integer", minimum: 0 },
  },
  "X-Request-Id": { description: "Finds the request in the log.", schema: { type: "string" } },
};

/** What says where the next page starts, by the field of the query that takes it. */
const nextHeaders = { offset: "X-Next-Offset", cursor: "X-Next-Cursor", page_token: "X-Next-Page-Token" };

const fieldsOf = (
  schema: z.ZodType | undefined,
  schemas: SchemaSet,
): { fields: [string, Json][]; required: string[] } => {
  const { properties, required } = schema ? schemas.add(schema, "request") : {};
  const isField = (entry: [string, unknown]): entry is [string, Json] => isObject(entry[1]);
  return {
    fields: Object.entries(isObject(properties) ? properties : {}).filter(isField),
    required: Array.isArray(required) ? required : [],
  };
};

const pathParameters = (route: Route, schemas: SchemaSet): Json[] =>
  fieldsOf(route.params, schemas).fields.map(([name, { description, ...schema }]) => ({
    name,
    in: "path",
    required: true,
    description,
    schema,
  }));

const queryParameters = (route: Route, schemas: SchemaSet): Json[] => {
  const { fields, required } = fieldsOf(route.query, schemas);
  return fields.map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    description,
    // The SDK writes a map as tags[team]=a.
    ...(schema.type === "object" && { style: "deepObject", explode: true }),
    schema,
  }));
};

const parametersOf = (route: Route, schemas: SchemaSet): Json[] => {
  const common = [
    "Project",
    "ProjectName",
    ...(isRepeatable(route) ? ["IdempotencyKey"] : []),
    ...(route.resumes ? ["LastEventId"] : []),
  ];
  const refs = common.map((name) => ({ $ref: `#/components/parameters/${name}` }));
  return [...pathParameters(route, schemas), ...queryParameters(route, schemas), ...refs];
};

/** The schema of a file. */
const binary: Json = { type: "string", format: "binary" };

/** A form with a file: the fields of the body's schema, and the file. */
const formOf = ({ upload, body }: Route, schemas: SchemaSet): Json => {
  const { fields, required } = fieldsOf(body, schemas);
  const file = { type: "string", format: "binary", description: upload?.description };
  const properties = { ...Object.fromEntries(fields), file };
  const encoding = { file: { contentType: upload?.type } };
  return {
    "multipart/form-data": { schema: { type: "object", properties, required: [...required, "file"] }, encoding },
  };
};

/** Whether rules between fields ask for some field in any case. */
const asksForField = (schema: unknown): boolean => {
  if (!isObject(schema)) return false;
  const { required = [], allOf = [], oneOf = [] } = schema as Record<string, unknown[]>;
  return required.length > 0 || allOf.some(asksForField) || (oneOf.length > 0 && oneOf.every(asksForField));
};

const requestBodyOf = (route: Route, schemas: SchemaSet): Json => {
  if (route.upload) return { requestBody: { required: true, content: formOf(route, schemas) } };
  if (route.stream) return { requestBody: { required: true, content: { [route.stream.type]: { schema: binary } } } };
  const schema: z.ZodType | undefined = route.body;
  if (!schema) return {};
  const content = { "application/json": { schema: schemas.add(schema, "request", requestName(route)) } };
  // An absent body counts as {} (middleware/parse-body.ts).
  const required = !schema.safeParse({}).success || asksForField(documentRules(schema));
  return { requestBody: { required, content } };
};

/** The route's own answers, 2xx before the errors, as OpenAPI readers expect. */
const answersOf = (route: Route, schemas: SchemaSet): Json => {
  const asked = Object.keys(route.query?.shape ?? {});
  const next = Object.entries(nextHeaders).find(([name]) => asked.includes(name))?.[1];
  const headers = [...(next ? ["X-Has-More", next] : []), "X-Ignored-Fields", "X-Request-Id"].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]);
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, { description, schema, files, events }]) => [
      status,
      {
        description,
        headers: Object.fromEntries(headers),
        ...(schema && { content: { "application/json": { schema: schemas.add(schema, "answer") } } }),
        // OpenAPI 3.1 has no word for a stream: the schema is that of one event's data.
        ...(events && { content: { "text/event-stream": { schema: schemas.add(events, "answer") } } }),
        ...(files && { content: Object.fromEntries(files.map((type) => [type, { schema: binary }])) }),
      },
    ]),
  );
};

/** Name of the security scheme of the document. */
const securityScheme = "apiKey";

const permissionText = ({ permission, furtherPermissions = [] }: Route): string => {
  if (permission === undefined) return "Any key may.";
  const further = furtherPermissions.map((each) => `, and \`${each.permission}\` when ${each.when}`);
  const level = permission === "organization" ? ", which only keys of the organization can have" : "";
  return `Needs the permission \`${permission}\`${level}${further.join("")}.`;
};

const operationOf = (route: Route, schemas: SchemaSet, errors: Map<string, Json>): Json => {
  const { operationId, tag, summary, description, permission } = route;
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, permissionText(route)].filter(Boolean).join(" "),
    // For a scheme other than OAuth 2, OpenAPI 3.1 lists the roles that a caller needs.
    security: [{ [securityScheme]: permission === undefined ? [] : [permission] }],
    parameters: parametersOf(route, schemas),
    ...requestBodyOf(route, schemas),
    responses: { ...answersOf(route, schemas), ...errorAnswers(route, errors) },
  };
};

/** Component → its example. `names`: of answers. */
const examplesOf = (routes: readonly Route[], names: ReadonlyMap<z.ZodType, string>): Record<string, Json> =>
  Object.fromEntries(
    routes.flatMap((route) => {
      const { body, answer } = route.examples ?? {};
      const answered = Object.values(route.answers).flatMap(({ schema }) => (schema && names.get(schema)) ?? []);
      return [...(body ? [[requestName(route), body]] : []), ...(answer ? answered.map((name) => [name, answer]) : [])];
    }),
  );

const withExamples = (components: Record<string, Json>, examples: Record<string, Json>): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(components).map(([name, schema]) => [
      name,
      Object.hasOwn(examples, name) ? { ...schema, examples: [examples[name]] } : schema,
    ]),
  );

/** Makes the document of `routes`, in their order. The same routes always give the same document. */
export const openApiDocument = (routes: readonly Route[]): Json => {
  const names = nameAnswers(routes);
  const schemas = createSchemaSet(names);
  const errors = new Map<string, Json>();
  const paths: Record<string, Json> = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route, schemas, errors) };
  return {
    openapi: "3.1.0",
    info: {
      title: "Browserpool",
      version: packageJson.version,
      description: introduction,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ [securityScheme]: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        [securityScheme]: {
          type: "http",
          scheme: "bearer",
          description: "An API key. The roles of an operation are the permissions that the key needs.",
        },
      },
      parameters: sharedParameters,
      headers: sharedHeaders,
      schemas: withExamples({ Error: errorSchema, ...schemas.components() }, examplesOf(routes, names)),
      responses: Object.fromEntries([...errors].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
};
