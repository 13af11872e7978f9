import { z } from "zod";
import type { Check } from "./check.ts";
import { faultSpansOf } from "./views.ts";

/** What the fault tells at its end (faults/foreign-pod.ts). */
const Found = z.object({ deleted: z.array(z.string()) });

/** A pod with a pool's label may be anybody's: whoever may create pods can write one. */
export const foreignPodsStay: Check = {
  name: "foreign-pods-stay",
  kind: "safety",
  promise: "a pod that only looks like a pool's browser is left alone",
  find: (events) =>
    faultSpansOf(events).flatMap(({ fault, begin, end }) => {
      const found = fault === "foreign-pod" ? Found.safeParse(end?.details).data : undefined;
      return (found?.deleted ?? []).map((name) => ({
        what: `the pod ${name}, which is no pool's own, was deleted`,
        events: [begin, ...(end ? [end] : [])],
      }));
    }),
};
