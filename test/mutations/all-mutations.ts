import { agentMistakes } from "./mistakes/agent.ts";
import { controllersMistakes } from "./mistakes/controllers.ts";
import { httpMistakes } from "./mistakes/http.ts";
import { leasesMistakes } from "./mistakes/leases.ts";
import { servicesMistakes } from "./mistakes/services.ts";
import type { Mutation } from "./mutation.ts";

/** All mistakes, by the area of the product that they are in. */
const areas = {
  agent: agentMistakes,
  controllers: controllersMistakes,
  http: httpMistakes,
  leases: leasesMistakes,
  services: servicesMistakes,
} as const satisfies Record<string, readonly Mutation[]>;

export type Area = keyof typeof areas;

export const areaNames = Object.keys(areas) as Area[];

export const allMutations: readonly Mutation[] = Object.values(areas).flat();

/** The area of a mistake. */
export const areaOf = (mutation: Mutation): Area =>
  areaNames.find((area) => areas[area].includes(mutation as never)) as Area;
