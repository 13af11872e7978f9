import type { Feature } from "../../core/api/feature.ts";
import { destinationRoutes } from "./export-destinations.ts";
import { exportAuditLogsRoute, listAuditLogsRoute } from "./routes.ts";

/** The recent audit lines in the form of the public clients (docs/audit.md). */
export const auditLogs = {
  routes: [listAuditLogsRoute, exportAuditLogsRoute, ...destinationRoutes],
} satisfies Feature;
