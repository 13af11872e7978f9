import type { Feature } from "../../core/api/feature.ts";
import { streamLogsRoute } from "./routes.ts";

/** What a session's browser and agent write. */
export const logs = {
  routes: [streamLogsRoute],
} satisfies Feature;
