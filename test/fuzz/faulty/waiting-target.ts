/** A target one of whose cases waits for what never comes. */
import fc from "fast-check";
import type { FuzzTarget } from "../target.ts";

export const target: FuzzTarget<number> = {
  about: "Numbers, one of which is waited for.",
  inputs: fc.nat(1000),
  open: () => ({
    check: (number) => (number > 990 ? new Promise<void>(() => undefined) : undefined),
  }),
};
