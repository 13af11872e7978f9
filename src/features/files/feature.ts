import type { Feature } from "../../core/api/feature.ts";
import { fileRoutes } from "./routes.ts";

/** The files of a session: what its browser has downloaded, and what its holder puts there. */
export const files = {
  routes: fileRoutes,
} satisfies Feature;
