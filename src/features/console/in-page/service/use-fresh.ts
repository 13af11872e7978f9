/** Reads what events tell the changes of, and also what they don't, or in a window that has no event stream. */
import { type Kind, link } from "./live.ts";
import { type Fetched, useFetched } from "./use-fetched.ts";

/** How often it is read where no event tells of all changes, ms. */
const everyMs = 5000;

/** Kinds whose answers also change with something else: the credential of an item, the exports to a destination. */
const partlyTold: readonly Kind[] = ["vault_item", "telemetry_destination"];

/** As `useFetched`. `kind`: undefined for what has no events. */
export const useFresh = <T>(
  name: string,
  load: (signal: AbortSignal) => Promise<T>,
  kind: Kind | undefined,
): Fetched<T> => {
  const isTold = kind !== undefined && !partlyTold.includes(kind) && link.value.state === "live";
  return useFetched(name, load, { ...(kind && { kind }), ...(!isTold && { everyMs }) });
};
