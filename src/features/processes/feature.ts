import type { Feature } from "../../core/api/feature.ts";
import { processRoutes } from "./routes.ts";

/** Processes that a session's holder runs beside its browser. */
export const processes = {
  routes: processRoutes,
} satisfies Feature;
