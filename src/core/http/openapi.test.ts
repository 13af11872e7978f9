import { describe, expect, test } from "vitest";
import { z } from "zod";
import { routes } from "../../cmd/features.ts";
import { httpStatus } from "../../platform/base/errors.ts";
import { openApiDocument } from "./openapi.ts";
import { Paging } from "./paging.ts";
import { type Route, routesWith } from "./route.ts";

const defineRoute = routesWith<object>();

type Json = Record<string, unknown>;
type Operation = {
  operationId: string;
  parameters: ({ $ref: string } | { name: string; in: string; required: boolean; schema: Json })[];
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, Json>;
};
type OpenApi = { paths: Record<string, Record<string, Operation>>; components: Record<string, Record<string, Json>> };

const documentOf = (routes: readonly Route[]): OpenApi => openApiDocument(routes) as OpenApi;

const operationsOf = (document: OpenApi): { path: string; method: string; operation: Operation }[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

/** Every JSON object in `node` with its place. */
const walk = (node: unknown, at = "#"): { at: string; node: Json }[] => {
  if (typeof node !== "object" || node === null) return [];
  const inside = Object.entries(node).flatMap(([key, value]) => walk(value, `${at}/${key}`));
  return Array.isArray(node) ? inside : [{ at, node: node as Json }, ...inside];
};

const lookUp = (document: unknown, ref: string): unknown =>
  ref
    .split("/")
    .slice(1)
    .reduce<unknown>((node, key) => (node as Json | undefined)?.[key], document);

const isSchema = (at: string): boolean =>
  /\/(schema|items|additionalProperties)$|\/properties\/[^/]+$|\/anyOf\/\d+$/.test(at);

const nodeProblems = (document: OpenApi): string[] =>
  walk(document).flatMap(({ at, node }) => [
    ...(typeof node.$ref === "string" && !lookUp(document, node.$ref) ? [`${at}: no ${node.$ref}`] : []),
    ...(isSchema(at) && Object.keys(node).every((key) => key === "description") ? [`${at}: empty schema`] : []),
    ...(node.description === "" ? [`${at}: empty description`] : []),
  ]);

const operationProblems = (document: OpenApi): string[] => {
  const operations = operationsOf(document);
  const ids = operations.map(({ operation }) => operation.operationId);
  return operations.flatMap(({ path, method, operation }) => {
    const declared = operation.parameters.flatMap((p) => ("in" in p && p.in === "path" ? [p.name] : []));
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const hasSuccess = Object.keys(operation.responses).some((status) => status.startsWith("2"));
    return [
      ...(declared.join() === named.join() ? [] : [`${method} ${path} declares the path parameters ${declared}`]),
      ...(hasSuccess ? [] : [`${method} ${path} has no success`]),
      ...(ids.filter((id) => id === operation.operationId).length > 1
        ? [`${operation.operationId} is not unique`]
        : []),
    ];
  });
};

const unusedComponents = (document: OpenApi): string[] => {
  const used = new Set(walk(document).map(({ node }) => node.$ref));
  return ["schemas", "responses", "parameters"].flatMap((kind) =>
    Object.keys(document.components[kind] ?? {})
      .filter((name) => !used.has(`#/components/${kind}/${name}`))
      .map((name) => `${kind}/${name} is not used`),
  );
};

/** What is wrong with a document's structure, each as one line. */
const problemsOf = (document: OpenApi): string[] => [
  ...nodeProblems(document),
  ...operationProblems(document),
  ...unusedComponents(document),
];

const parametersOf = (document: OpenApi, operation: Operation): string[] =>
  operation.parameters.map((p) => ("$ref" in p ? (lookUp(document, p.$ref) as { name: string }) : p).name);

const propertiesOf = (document: OpenApi, name: string): Record<string, Json> =>
  document.components.schemas?.[name]?.properties as Record<string, Json>;

const responseOf = (document: OpenApi, operation: Operation, status: number): Json => {
  const response = operation.responses[status] as Json;
  return (typeof response?.$ref === "string" ? lookUp(document, response.$ref) : response) as Json;
};

const thing = z.object({ id: z.string(), made_at: z.iso.datetime(), size: z.int().default(3) });

const listThings = defineRoute(
  {
    method: "get",
    path: "/things",
    operationId: "listThings",
    tag: "Things",
    scope: "organization",
    permission: "organization",
    summary: "List things",
    query: Paging.extend({ tags: z.record(z.string(), z.string()).optional() }),
    answers: { 200: { description: "The things", schema: z.array(thing) } },
    errors: ["not_found"],
  },
  async () => ({ status: 200 }),
);

const getThing = defineRoute(
  {
    method: "get",
    path: "/things/{id}",
    operationId: "getThing",
    tag: "Things",
    scope: "project",
    permission: "pools:read",
    summary: "Get a thing",
    params: z.object({ id: z.string() }),
    answers: { 200: { description: "The thing", schema: thing } },
    errors: [],
  },
  async () => ({ status: 200 }),
);

describe("the document of the API", () => {
  const document = documentOf(routes);

  test("is a sound OpenAPI document", () => expect(problemsOf(document)).toEqual([]));

  test("is the same each time it is made", () =>
    expect(JSON.stringify(openApiDocument(routes))).toBe(JSON.stringify(document)));

  // HTTP-28
  test("is that of version 0.1.0", () => expect(document).toMatchObject({ info: { version: "0.1.0" } }));

  // HTTP-28
  test("has every route", () =>
    expect(operationsOf(document).map(({ path, method }) => `${method} ${path}`)).toEqual(
      [...Map.groupBy(routes, ({ path }) => path).values()].flat().map(({ method, path }) => `${method} ${path}`),
    ));

  test("names the project headers everywhere, and Idempotency-Key on every POST that may change something", () => {
    // Answers are not kept for bodies that go through as they come.
    const streamed = routes.filter(({ stream }) => stream !== undefined).map(({ path }) => path);
    const without = ["/config-registry/lookup", "/org/credential_providers/{id}/test", ...streamed];
    for (const { path, method, operation } of operationsOf(document)) {
      const names = parametersOf(document, operation);
      expect(names).toEqual(expect.arrayContaining(["X-Kernel-Project-Id", "X-Kernel-Project"]));
      expect(names.includes("Idempotency-Key")).toBe(method === "post" && !without.includes(path));
    }
  });

  // AUTH-11
  test("names the permission of every operation", () => {
    const needed = (operation: Operation) => (operation as unknown as { security: unknown }).security;
    for (const { path, method, operation } of operationsOf(document)) {
      const route = routes.find((each) => each.path === path && each.method === method);
      expect(needed(operation)).toEqual([{ apiKey: route?.permission ? [route.permission] : [] }]);
    }
  });

  // HTTP-28
  test("tells every caller of 401, 403, 404, 500 and 503, and when to come back after a 503", () => {
    for (const { operation } of operationsOf(document)) {
      for (const status of [401, 403, 404, 500, 503])
        expect(responseOf(document, operation, status).description).toContain("`");
      expect(Object.keys(responseOf(document, operation, 503).headers as Json)).toContain("Retry-After");
      expect(Object.keys(responseOf(document, operation, 401).headers as Json)).toContain("x-should-retry");
    }
  });

  // HTTP-28, HTTP-1
  test("says that errors have the shape Error", () => {
    for (const { operation } of operationsOf(document))
      for (const status of Object.keys(operation.responses).filter((text) => Number(text) >= 400)) {
        const { content } = responseOf(document, operation, Number(status)) as { content: Record<string, Json> };
        expect(content["application/json"]?.schema).toEqual({ $ref: "#/components/schemas/Error" });
      }
    const { code } = propertiesOf(document, "Error");
    expect(code?.enum).toEqual(Object.keys(httpStatus));
  });

  test("describes requests as they may be sent and answers as they come", () => {
    expect(document.components.schemas?.CreateTelemetryDestination?.required).toEqual(["name", "endpoint"]);
    const { browser_pool_config: config } = propertiesOf(document, "BrowserPool");
    expect(config?.required).toEqual(expect.arrayContaining(["size", "timeout_seconds", "headless"]));
    expect(JSON.stringify(document.components.schemas?.BrowserPool)).not.toContain('"default"');
  });

  // HTTP-28
  test("says which rules hold between fields, on names of entries and in texts", () => {
    const exactlyOne = (...fields: string[]) => ({ oneOf: fields.map((field) => ({ required: [field] })) });
    const pool = propertiesOf(document, "CreateBrowserPool");
    const connection = propertiesOf(document, "CreateAuthConnection");
    const { values, totp_secret: secret } = propertiesOf(document, "CreateCredential");
    expect(pool.extensions?.items).toMatchObject(exactlyOne("id", "name"));
    expect(pool.profile?.oneOf).toHaveLength(3);
    expect(propertiesOf(document, "CreateBrowser").proxy).toMatchObject(exactlyOne("id", "mode"));
    expect(connection.proxy).toMatchObject(exactlyOne("id", "name"));
    expect(connection.credential?.oneOf).toHaveLength(3);
    const { Telemetry: telemetry } = document.components.schemas ?? {};
    expect(telemetry?.oneOf).toMatchObject([{}, { properties: { browser: { not: {} } }, required: ["enabled"] }]);
    expect(values?.propertyNames).toEqual({ type: "string", pattern: "^.{1,128}$" });
    const base32 = new RegExp(String(secret?.pattern));
    for (const text of ["", "jbsw y3dp-ehpk 3pxp", "GEZDGNBVGY3TQOJQ", "MY======", "A".repeat(256)])
      expect(base32.test(text)).toBe(true);
    for (const text of ["1", "A", "AAA", "AAAAAA", "=", "canary!", "A".repeat(257)])
      expect(base32.test(text)).toBe(false);
    // Not every reader knows classes of characters.
    for (const { node } of walk(document)) expect(String(node.pattern ?? "")).not.toContain(String.raw`\p{`);
  });

  test("says when a body can be left out", () => {
    const isRequired = Object.fromEntries(
      operationsOf(document).map(({ operation }) => [operation.operationId, operation.requestBody?.required]),
    );
    expect(isRequired).toMatchObject({ createBrowserPool: true, acquireBrowser: false, releaseBrowser: true });
    expect(isRequired.getBrowserPool).toBeUndefined();
  });
});

describe("a document", () => {
  test("gives lists their paging headers and maps in a query the SDK's way of writing them", () => {
    const document = documentOf([listThings]);
    const { operation } = operationsOf(document)[0] ?? {};
    expect(operation && Object.keys(responseOf(document, operation, 200).headers as Json)).toEqual([
      "X-Has-More",
      "X-Next-Offset",
      "X-Ignored-Fields",
      "X-Request-Id",
    ]);
    expect(operation?.parameters).toContainEqual(
      expect.objectContaining({ name: "tags", in: "query", style: "deepObject", explode: true }),
    );
  });

  test("names an answer after the operation that gets it", () => {
    const { components, paths } = documentOf([listThings, getThing]);
    expect(components.schemas?.Thing?.required).toEqual(["id", "made_at", "size"]);
    expect(JSON.stringify(paths["/things"]?.get?.responses[200])).toContain(
      '"items":{"$ref":"#/components/schemas/Thing"}',
    );
  });

  test("joins the codes of one status", () => {
    const { paths } = documentOf([listThings]);
    expect(paths["/things"]?.get?.responses[404]).toEqual({
      $ref: "#/components/responses/not_found.project_not_found",
    });
  });

  test("is refused when one name would stand for two schemas", () => {
    const other = { ...getThing, path: "/others/{id}", answers: { 200: { description: "", schema: z.object({}) } } };
    expect(() => openApiDocument([getThing, other])).toThrow("two schemas are named Thing");
  });

  test("with a loose end is found to have one", () => {
    const broken = documentOf([
      { ...getThing, path: "/things/{name}", operationId: "x" },
      { ...listThings, operationId: "x" },
    ]);
    broken.components.schemas = { Stray: {} };
    const problems = problemsOf(broken).join("\n");
    for (const problem of [
      "no #/components/schemas/Error",
      "x is not unique",
      "/things/{name} declares",
      "Stray is not used",
    ])
      expect(problems).toContain(problem);
  });
});

test.each(routes.filter(({ examples }) => examples).map((route) => [route.operationId, route] as const))(
  "the examples of %s are what it takes and answers",
  (_, { body, answers, examples: { body: request, answer } = {} }) => {
    if (request) expect(body.parse(request)).toMatchObject(request);
    const schemas = Object.values(answers).flatMap(({ schema }) => schema ?? []);
    if (answer) expect(schemas.map((schema) => schema.parse(answer))).toMatchObject([answer]);
  },
);

test("the document shows the examples", () => {
  const { schemas } = documentOf(routes).components;
  const shown = Object.values(schemas ?? {}).flatMap((schema) => schema.examples ?? []);
  const given = routes.flatMap(({ examples }) => Object.values(examples ?? {}));
  expect(shown).toEqual(expect.arrayContaining(given));
  expect(shown).toHaveLength(given.length);
});
