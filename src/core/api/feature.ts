import type { Express } from "express";
import type { AnyKind } from "../../platform/kinds/kind.ts";
import type { AppDeps, HttpServices } from "../http/app-deps.ts";
import type { Route } from "../http/route.ts";
import type { ProjectContents } from "../projects/delete-project.ts";
import type { ObjectController } from "../reconcile/object-controller.ts";
import type { Announced } from "./announced.ts";

/**
 * What a feature adds to the service. Every program goes through the one list of features (cmd/features.ts) and takes
 * its part of each. `Services`: what its use cases need. `Parts`: what the rounds of its controllers need. A feature
 * says `satisfies Feature`: the list of all features is where the needs meet what there is.
 */
export type Feature<Services = never, Parts = never> = {
  /** Its kinds, in the order in which their CRDs are installed. */
  kinds?: readonly AnyKind[];
  /** Its objects that an empty project has none of. */
  contents?: readonly ProjectContents[];
  /** Its kinds of which the events of a project tell. */
  announced?: readonly Announced[];
  // biome-ignore lint/suspicious/noExplicitAny: of kinds of every shape
  controllers?: readonly ObjectController<any, Parts>[];
  /** Its operations, in the order of the documentation. */
  routes?: readonly Route<Services>[];
  /** Serves its pages beside the API. */
  mount?: (app: Express, deps: AppDeps<Services & HttpServices>) => void;
  /**
   * Serves its pages for who runs the service: on the ops port, or on loopback. `services`: undefined while the service
   * starts.
   */
  mountOps?: (app: Express, services: () => (Services & HttpServices) | undefined) => void;
};
