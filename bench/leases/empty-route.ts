/**
 * Preloaded into an api process by `--import`. Adds an operation that does nothing, to separate the cost of every
 * request (connection, key, project, body, answer, log line, metrics) from the cost of an acquire.
 */
import { z } from "zod";
import { routes } from "../../src/cmd/features.ts";
import { type Route, routesWith } from "../../src/core/http/route.ts";
import { emptyPath } from "./empty-path.ts";

const defineRoute = routesWith<object>();

(routes as Route[]).push(
  defineRoute(
    {
      method: "post",
      path: emptyPath,
      operationId: "benchEmpty",
      tag: "Bench",
      scope: "project",
      permission: "browsers:use",
      summary: "Do nothing",
      body: z.object({}),
      answers: { 204: { description: "Done" } },
      errors: ["bad_request"],
    },
    async () => ({ status: 204 }),
  ),
);
