import { agentMistakes } from "./mistakes/agent.ts";
import { controllersMistakes } from "./mistakes/controllers.ts";
import { httpMistakes } from "./mistakes/http.ts";
import { leasesMistakes } from "./mistakes/leases.ts";
import { servicesMistakes } from "./mistakes/services.ts";
import type { KeptMistake } from "./mutation.ts";

/** All mistakes that were written by hand. */
export const keptMistakes: readonly KeptMistake[] = [
  ...agentMistakes,
  ...controllersMistakes,
  ...httpMistakes,
  ...leasesMistakes,
  ...servicesMistakes,
];
