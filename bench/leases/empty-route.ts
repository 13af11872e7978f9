/**
 * Given to an api process by `--import`: adds an operation that does nothing, so that what every request costs (connection,
 * key, project, body, answer, log line, metrics) can be told from what an acquire costs.
 */
import { z } from "zod";
import { defineRoute } from "../../src/http/route.ts";
import { routeTable } from "../../src/http/route-table.ts";
import { emptyPath } from "./empty-path.ts";

routeTable.push(
  defineRoute(
    {
      method: "post",
      path: emptyPath,
      operationId: "benchEmpty",
      tag: "Bench",
      scope: "project",
      summary: "Do nothing",
      body: z.object({}),
      answers: { 204: { description: "Done" } },
      errors: ["bad_request"],
    },
    async () => ({ status: 204 }),
  ),
);
