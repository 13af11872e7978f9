import { browserCallRoute } from "../../core/api/browser-call-route.ts";
import type { Route } from "../../core/http/route.ts";
import { deleteExecutor, executePlaywright, listExecutors, runRepl } from "./calls.ts";

/** In the order of the documentation. */
export const codeRoutes = [
  browserCallRoute(executePlaywright, {
    operationId: "executePlaywright",
    summary: "Run Playwright code beside a browser",
    description:
      "`page` is the tab in front, or for an executor with a name its own tab. Calls of one executor run one after the other.",
    answer: "What came of it; code that fails is `success: false`",
    errors: ["conflict", "not_supported_here"],
  }),
  browserCallRoute(listExecutors, {
    operationId: "listExecutors",
    summary: "List the executors of a session",
    answer: "The default one, then those with names",
  }),
  browserCallRoute(deleteExecutor, {
    operationId: "deleteExecutor",
    summary: "End an executor of a session",
    description: "The default executor begins anew with its next code.",
    answer: "It has ended",
  }),
  browserCallRoute(runRepl, {
    operationId: "runRepl",
    summary: "Run code in the REPL of a session",
    description:
      "What code declares at its top is there for the next. `repl.help()` tells what it is given. Calls run one after the other.",
    answer: "What came of it; code that fails is `success: false`",
    errors: ["not_supported_here"],
  }),
] satisfies readonly Route[];
