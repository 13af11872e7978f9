import type { Feature } from "../../core/api/feature.ts";
import { computerRoutes } from "./routes.ts";

/** The hands of a holder: mouse, keyboard, screen and clipboard of its browser. */
export const computer = {
  routes: computerRoutes,
} satisfies Feature;
