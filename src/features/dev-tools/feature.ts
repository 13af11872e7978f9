import type { Feature } from "../../core/api/feature.ts";
import { devToolsRoutes } from "./routes.ts";

/** How clients that know a session by its http URL find its CDP. */
export const devTools = {
  routes: devToolsRoutes,
} satisfies Feature;
