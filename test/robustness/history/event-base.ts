import { z } from "zod";

/**
 * What every event begins with. `at`: ms of CLOCK_MONOTONIC with fractions (`monotonicMs`), comparable between
 * processes of one machine and deaf to clock jumps.
 */
export const eventOf = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) =>
  z.object({ kind: z.literal(kind), at: z.number().min(0), ...shape });

/** Now, in ms of CLOCK_MONOTONIC. A process under a faked clock must not stamp events. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
