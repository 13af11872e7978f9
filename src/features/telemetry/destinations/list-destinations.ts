import type { Project } from "../../../core/projects/projects.ts";
import { wireName } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { fetchDestinations } from "./fetch-destination.ts";
import type { TelemetryDestination } from "./telemetry-destination.ts";

type DestinationQuery = {
  /** The whole name, in any case and with any accents. */
  name?: string | undefined;
  /** Part of the name or the endpoint, in any case, or the exact id. */
  query?: string | undefined;
};

const sameText = new Intl.Collator("en", { sensitivity: "base", usage: "search" });

const isWanted = (destination: TelemetryDestination, { name, query }: DestinationQuery): boolean => {
  const ownName = wireName(destination) ?? "";
  if (name !== undefined && sameText.compare(name, ownName) !== 0) return false;
  if (query === undefined || query === destination.metadata.name) return true;
  return `${ownName}\n${destination.spec.endpoint}`.toLowerCase().includes(query.toLowerCase());
};

/** The telemetry destinations that match the query, oldest first. */
export const listDestinations = async (
  query: DestinationQuery,
  project: Project,
  deps: { kube: Kube },
): Promise<TelemetryDestination[]> =>
  (await fetchDestinations(project, deps)).filter((destination) => isWanted(destination, query));
