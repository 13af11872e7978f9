import type { Feature } from "../../core/api/feature.ts";
import { codeRoutes } from "./routes.ts";

/** Code that a session's holder runs beside its browser. */
export const code = {
  routes: codeRoutes,
} satisfies Feature;
