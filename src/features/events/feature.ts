import type { Feature } from "../../core/api/feature.ts";
import { streamEventsRoute } from "./routes.ts";

/** What becomes of the objects of a project, as it happens. */
export const events = { routes: [streamEventsRoute] } satisfies Feature;
