import type { SourcePatch } from "../hook/source-patch.ts";

/** The patches of a seeded bug; none without a name. Throws for a name that is not known. */
export const bugPatches = (name: string | undefined): SourcePatch[] => {
  if (name === undefined) return [];
  throw new Error(`there is no seeded bug ${name}`);
};
