import { agentMistakes } from "./mistakes/agent.ts";
import { besideMistakes } from "./mistakes/beside.ts";
import { httpMistakes } from "./mistakes/http.ts";
import { leasesMistakes } from "./mistakes/leases.ts";
import { reconcileMistakes } from "./mistakes/reconcile.ts";
import { useCaseMistakes } from "./mistakes/use-cases.ts";
import type { KeptMistake } from "./mutation.ts";

/** All mistakes that were written by hand. */
export const keptMistakes: readonly KeptMistake[] = [
  ...agentMistakes,
  ...besideMistakes,
  ...reconcileMistakes,
  ...httpMistakes,
  ...leasesMistakes,
  ...useCaseMistakes,
];
