/**
 * Destinations to which the public service exports its audit logs. They are buckets of S3, opened by a role of AWS that
 * the service assumes: this one has no account there that anybody could trust. All of it is refused alike.
 */
import { z } from "zod";
import { type Method, type Route, routesWith } from "../../core/http/route.ts";
import { notSupportedHere } from "../../platform/base/errors.ts";

const defineRoute = routesWith<unknown>();

const DestinationParams = z.object({ id: z.string().min(1).max(255).describe("The destination's id.") });

/** `place`: what follows the path of all destinations. `what`: what the operation is for. */
const refused = (method: Method, place: string, operationId: string, what: string): Route =>
  defineRoute(
    {
      ...{ method, operationId, path: `/audit-logs/export/destinations${place}`, tag: "Audit" },
      ...{ scope: "organization", permission: "organization", summary: `Not possible here: ${what}` },
      ...(place !== "" && { params: DestinationParams }),
      answers: { 200: { description: "Never answered here" } },
      errors: ["not_supported_here"],
    },
    async () => {
      throw notSupportedHere([
        {
          path: "type",
          message:
            "audit logs are not exported to S3 from here, since this service can assume no role of AWS; collect the " +
            "audit stream, or download /audit-logs/export/chunk regularly (docs/audit.md)",
        },
      ]);
    },
  );

/** All of them. */
export const destinationRoutes: readonly Route[] = [
  refused("post", "", "createExportDestination", "export audit logs to S3"),
  refused("get", "", "listExportDestinations", "list destinations of audit logs"),
  refused("get", "/{id}", "getExportDestination", "get a destination of audit logs"),
  refused("patch", "/{id}", "updateExportDestination", "change a destination of audit logs"),
  refused("delete", "/{id}", "deleteExportDestination", "delete a destination of audit logs"),
  refused("post", "/{id}/test", "testExportDestination", "test a destination of audit logs"),
];
