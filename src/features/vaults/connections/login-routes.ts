/**
 * The SDK's operations for a login that drives a browser. They are not implemented: people type logins into the hosted
 * page.
 */

import { z } from "zod";
import { type Method, type Route, routesWith } from "../../../core/http/route.ts";
import type { ProjectPermission } from "../../../core/model/permission.ts";
import { AppError } from "../../../platform/base/errors.ts";

const defineRoute = routesWith<object>();

const ConnectionParams = z.object({ id: z.string().min(1).max(253).describe("The connection's id.") });

type MissingRoute = { operationId: string; method: Method; last: string; permission: ProjectPermission };

const missing = ({ operationId, method, last, permission }: MissingRoute): Route =>
  defineRoute(
    {
      method,
      path: `/auth/connections/{id}/${last}`,
      operationId,
      tag: "Auth connections",
      scope: "project",
      permission,
      summary: "Not implemented: no browser logs in by itself",
      params: ConnectionParams,
      answers: { 200: { description: "Never" } },
      errors: ["not_implemented"],
    },
    async () => {
      throw new AppError(
        "not_implemented",
        "no browser logs in by itself here: send the person to the hosted_url of POST /auth/connections/{id}/login, and read the connection's status",
      );
    },
  );

/** `submit`, `follow` and `timeline` of the SDK. */
export const connectionFlowRoutes: Route[] = [
  missing({ operationId: "submitAuthConnection", method: "post", last: "submit", permission: "credentials:write" }),
  missing({ operationId: "followAuthConnection", method: "get", last: "events", permission: "vaults:read" }),
  missing({ operationId: "listAuthConnectionTimeline", method: "get", last: "timeline", permission: "vaults:read" }),
];
