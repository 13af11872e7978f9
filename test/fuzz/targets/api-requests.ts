import { createServer, type Server } from "node:http";
import { duplexPair } from "node:stream";
import express from "express";
import fc from "fast-check";
import { z } from "zod";
import { routes } from "../../../src/cmd/features.ts";
import { answerError } from "../../../src/core/http/middleware/error-answer.ts";
import { parseBody } from "../../../src/core/http/middleware/parse-body.ts";
import { nestQuery, validate } from "../../../src/core/http/middleware/validate.ts";
import { answerMalformed } from "../../../src/core/http/refuse-socket.ts";
import { AppError, httpStatus } from "../../../src/platform/base/errors.ts";
import { fromSchema } from "../inputs/from-schema.ts";
import { inPieces, mutatedBytes, pieceSizes } from "../inputs/mutated-bytes.ts";
import { anyJson, type Json, mutatedJson } from "../inputs/mutated-json.ts";
import { anyText } from "../inputs/mutated-text.ts";
import { type FuzzTarget, must, orRefusedSync } from "../target.ts";

const schemaOf = (schema: z.ZodType): { [key: string]: unknown } =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any", target: "openapi-3.0", reused: "inline" });

type Input =
  | { kind: "body"; route: number; body: Json }
  | { kind: "query"; route: number; query: [string, string | string[]][] }
  | { kind: "bytes"; bytes: Buffer; sizes: number[] };

const withBody = routes.flatMap((route, index) => (route.body ? [index] : []));
const withQuery = routes.flatMap((route, index) => (route.query ? [index] : []));
const bodies = new Map(
  withBody.map((index) => {
    const proper = fromSchema(schemaOf(routes[index]?.body as z.ZodType));
    return [index, fc.oneof(proper, mutatedJson(proper), anyJson)];
  }),
);
const queries = new Map(
  withQuery.map((index) => [index, Object.keys((routes[index]?.query as z.ZodObject | undefined)?.shape ?? {})]),
);

const example = [
  "POST /browsers HTTP/1.1",
  "Host: 127.0.0.1",
  "Content-Type: application/json",
  "Content-Length: 20",
  "",
  '{"timeout_seconds":9}',
].join("\r\n");
const chunked =
  "POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n0\r\n\r\n";
const get = "GET /browser_pools?limit=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

const inputs: fc.Arbitrary<Input> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(...withBody)
      .chain((route) => (bodies.get(route) ?? anyJson).map((body) => ({ kind: "body" as const, route, body }))),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...withQuery).chain((route) => {
      const names = fc.oneof(
        fc.constantFrom(
          ...(queries.get(route) ?? []),
          "tags[a]",
          "tags[",
          "tags[]",
          "tags[a]b",
          "__proto__",
          "__proto__[x]",
        ),
        anyText(8),
      );
      const value = fc.oneof(anyText(12), fc.constantFrom("1", "true", "a,b"), fc.array(anyText(4), { maxLength: 3 }));
      return fc
        .array(fc.tuple(names, value), { maxLength: 4 })
        .map((query) => ({ kind: "query" as const, route, query: query as [string, string][] }));
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        mutatedBytes(
          fc.constantFrom(example, chunked, get).map((text) => Buffer.from(text, "latin1")),
          {
            tokens: [
              "\r\n",
              "\n",
              " ",
              ":",
              "Transfer-Encoding: chunked\r\n",
              "Content-Length: 5\r\n",
              "HTTP/1.1",
              "HTTP/0.9",
              "\0",
              "Expect: 100-continue\r\n",
              "Content-Encoding: gzip\r\n",
              "charset=utf-16",
              "Upgrade: h2c\r\n",
            ],
          },
        ),
        pieceSizes,
      )
      .map(([bytes, sizes]) => ({ kind: "bytes" as const, bytes, sizes })),
  },
) as fc.Arbitrary<Input>;

const isInvalid = (error: unknown): boolean => {
  if (!(error instanceof AppError) || error.code !== "bad_request") return false;
  must(error.message.length < 200_000, "a message that is very long");
  return true;
};

/** The API's way with heads and bodies, and no handler behind it. */
const createParser = (): Server => {
  const app = express();
  app.disable("x-powered-by").set("query parser", "simple");
  app.use((request, response, next) => {
    parseBody(request, response).then(
      (body) => response.json({ body: typeof body, query: Object.keys(request.query).length }),
      next,
    );
  });
  app.use((error: unknown, _request: express.Request, response: express.Response, next: express.NextFunction) => {
    if (!(error instanceof AppError)) return next(error);
    must(httpStatus[error.code] < 500, `${error.code} for what a caller sent`);
    answerError(response, error);
  });
  const server = createServer(app);
  answerMalformed(server);
  return server;
};

const answers = /^(HTTP\/1\.1 \d{3} |$)/;

/** Turns of the event loop that an answer may take. */
const patience = 8;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Resolves with all that the server has written, when it has closed its side or has nothing more to do. */
const send = async (server: Server, pieces: Buffer[]): Promise<string> => {
  const [client, far] = duplexPair();
  server.emit("connection", far);
  let answer = "";
  client.on("data", (chunk) => {
    answer += chunk.toString("latin1");
  });
  const over = Promise.withResolvers<void>();
  for (const side of [client, far]) side.on("error", () => undefined).once("close", () => over.resolve());
  client.once("end", () => over.resolve());
  for (const piece of pieces) client.write(piece);
  // A server takes the end of a caller's side for its going.
  for (let turn = 0; turn < patience && answer === ""; turn += 1) await nextTurn();
  client.end();
  await over.promise;
  client.destroy();
  far.destroy();
  return answer;
};

export const target: FuzzTarget<Input> = {
  about:
    "Requests to the API: heads and bodies as bytes, JSON bodies and queries of every route. Each is taken or refused as the document says; no error of the service's own.",
  inputs,
  open() {
    const server = createParser();
    return {
      async check(input) {
        if (input.kind === "bytes") {
          const answer = await send(server, inPieces(input.bytes, input.sizes));
          must(
            answers.test(answer) && !/^HTTP\/1\.1 5/m.test(answer),
            `the answer ${JSON.stringify(answer.slice(0, 200))}`,
          );
          return;
        }
        const route = routes[input.route];
        if (input.kind === "body") {
          // As it comes out of a request.
          const given: unknown = JSON.parse(JSON.stringify(input.body));
          const body = orRefusedSync(() => validate(route?.body as z.ZodType, given), isInvalid);
          if ("value" in body) for (const { applies } of route?.furtherPermissions ?? []) applies(body.value);
          return;
        }
        const query = route?.query as z.ZodType;
        const given = Object.assign(Object.create(null), Object.fromEntries(input.query)) as Record<string, unknown>;
        orRefusedSync(() => validate(query, nestQuery(given, query)), isInvalid);
      },
      async isWell() {
        const answer = await send(server, [Buffer.from(get)]);
        must(answer.startsWith("HTTP/1.1 200"), `a good request gets ${answer.slice(0, 100)}`);
        must(({} as { polluted?: unknown }).polluted === undefined, "Object.prototype was changed");
      },
    };
  },
};
