/** Draws by which an unattended run tries a share of what takes long, another one each time. */
import { createHash } from "node:crypto";
import { UsageError } from "./command-line.ts";

/** One of so many; the same seed draws the same ones. */
export type Draw = { oneOf: number; seed: string };

/**
 * What the two options of a command line say, each with the name that it has there. Throws a `UsageError` when they
 * can't be meant.
 */
export const readDraw = (
  [oneOfName, oneOf]: [name: string, value: string | undefined],
  [seedName, seed]: [name: string, value: string | undefined],
): Draw | undefined => {
  if (oneOf === undefined && seed === undefined) return undefined;
  if (!/^[1-9]$/.test(oneOf ?? ""))
    throw new UsageError(`${oneOfName} ${oneOf ?? ""}: give a whole number from 1 to 9`);
  if (!seed) throw new UsageError(`${seedName} is missing: give any text, and the same one for the same draw`);
  return { oneOf: Number(oneOf), seed };
};

/**
 * One of so many, and at least one of any; which ones does not depend on where the tree lies, nor on the order of the
 * files.
 */
export const drawn = (files: readonly string[], { oneOf, seed }: Draw): string[] => {
  const lotOf = (file: string): string => createHash("sha256").update(`${seed} ${file}`).digest("hex");
  const byLot = files.toSorted((a, b) => (lotOf(a) < lotOf(b) ? -1 : 1));
  return byLot.slice(0, Math.ceil(files.length / oneOf));
};
