/** A target one of whose cases never ends. */
import fc from "fast-check";
import type { FuzzTarget } from "../target.ts";

export const target: FuzzTarget<number> = {
  about: "Numbers, one of which takes for ever.",
  inputs: fc.nat(1000),
  open: () => ({
    check(number) {
      if (number > 990) for (;;);
    },
  }),
};
