/** A target with a fault of each kind, for the tests of the fuzzing itself: numbers say what goes wrong. */
import fc from "fast-check";
import { type FuzzTarget, must } from "../target.ts";

export const target: FuzzTarget<{ number: number }> = {
  about: "Numbers, some of which are trouble.",
  inputs: fc.record({ number: fc.nat(10_000) }),
  open: () => ({
    check({ number }) {
      must(number < 9000, "the number is large");
      if (number >= 8000) void Promise.reject(new Error("nobody waits for this"));
    },
  }),
};
