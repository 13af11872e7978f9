import type { LeaseStore } from "../../../core/leases/lease-store.ts";
import { requireUnused } from "../../../core/objects/references.ts";
import { withFreeName } from "../../../core/objects/with-free-name.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { NetworkFilter } from "../../../platform/addresses/network-filter.ts";
import { AppError, invalidInput } from "../../../platform/base/errors.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import { updatedAtAnnotation, wireName } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { hasReason } from "../../../platform/kube/kube-error.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import type { ExportResults } from "../export-state.ts";
import {
  type DestinationHeaders,
  openDestinationSecret,
  storedOrigin,
  writeDestinationSecret,
} from "./destination-secret.ts";
import { checkDestination, describeDestination, fetchDestination } from "./destinations.ts";
import { canonicalHeader, endpointOrigin } from "./rules/destination-problems.ts";
import {
  hasOwnDestinationSecret,
  ownDestinationSecretName,
  type TelemetryDestination,
  type TelemetryDestinationAnswer,
  type TelemetryDestinationSpec,
  telemetryDestinationKind,
  type UpdateTelemetryDestination,
} from "./telemetry-destination.ts";

type Deps = {
  destinationFilter: NetworkFilter;
  exportResults: ExportResults;
  kube: Kube;
  locks: Locks;
  secretsKeys: SecretsKeys;
  store: LeaseStore;
};
type Given = NonNullable<UpdateTelemetryDestination["headers"]>;

const byCanonicalName = (given: Given): Map<string, string | null> => {
  const headers = new Map<string, string | null>();
  for (const [name, value] of Object.entries(given)) {
    const canonical = canonicalHeader(name);
    if (headers.has(canonical)) throw invalidInput([{ path: "headers", message: `${canonical} is given twice` }]);
    headers.set(canonical, value);
  }
  return headers;
};

/** Nobody who can't read the stored values may have them sent to another server. */
const requireAnew = (destination: TelemetryDestination, given: ReadonlyMap<string, string | null>): void => {
  const kept = destination.spec.headerNames.map(canonicalHeader).filter((name) => !given.has(name));
  if (kept.length === 0) return;
  const message = `is another server: give its headers again, or null (${kept.join(", ")})`;
  throw invalidInput([{ path: "endpoint", message }]);
};

/** All headers after the change; undefined when the Secret stays as it is. */
const headersAfter = async (
  destination: TelemetryDestination,
  request: UpdateTelemetryDestination,
  deps: Deps,
): Promise<DestinationHeaders | undefined> => {
  const given = byCanonicalName(request.headers ?? {});
  const { endpoint = destination.spec.endpoint } = request;
  if (destination.spec.secretRef && !hasOwnDestinationSecret(destination)) {
    if (given.size > 0 || endpointOrigin(endpoint) !== endpointOrigin(destination.spec.endpoint))
      throw new AppError(
        "conflict",
        `the headers are in the Secret ${destination.spec.secretRef.name}, which was not made here: change them and the server by YAML`,
      );
    return undefined;
  }
  const isElsewhere = (await storedOrigin(destination, deps)) !== endpointOrigin(endpoint);
  if (isElsewhere) requireAnew(destination, given);
  if (given.size === 0) return undefined;
  const present = isElsewhere ? new Map<string, Sensitive>() : await openDestinationSecret(destination, deps);
  const after = new Map(present);
  for (const [name, value] of given)
    if (value === null) after.delete(name);
    else after.set(name, new Sensitive(value));
  return after;
};

/** Pools that refer to it by its name would lose it. */
const requireRenamable = async (
  destination: TelemetryDestination,
  request: UpdateTelemetryDestination,
  project: Project,
  deps: Deps,
): Promise<void> => {
  if (request.name === undefined || request.name === wireName(destination)) return;
  const object = { ...destination, metadata: { ...destination.metadata, name: "" } };
  await requireUnused({ kind: "TelemetryDestination", object, what: "telemetry destination" }, project, deps);
};

const specPatch = (
  destination: TelemetryDestination,
  { name, endpoint, description, compression, timeout_seconds }: UpdateTelemetryDestination,
  headers: DestinationHeaders | undefined,
) => ({
  ...(name !== undefined && { name }),
  ...(endpoint !== undefined && { endpoint }),
  ...(description !== undefined && { description: description || null }),
  ...(compression && { compression }),
  ...(timeout_seconds !== undefined && { timeoutSeconds: timeout_seconds }),
  ...(headers && {
    headerNames: [...headers.keys()],
    secretRef: headers.size > 0 ? { name: ownDestinationSecretName(destination.metadata.name) } : null,
  }),
});

const write = async (
  destination: TelemetryDestination,
  { request, headers }: { request: UpdateTelemetryDestination; headers: DestinationHeaders | undefined },
  deps: Deps,
): Promise<TelemetryDestination> => {
  const spec = specPatch(destination, request, headers);
  const after = { ...destination.spec, ...spec } as TelemetryDestinationSpec;
  checkDestination(after, headers ?? new Map(), deps);
  // Values for another server first: until the endpoint follows, nothing is sent, and afterwards nothing of before is.
  if (headers) await writeDestinationSecret(destination, { headers, endpoint: after.endpoint }, deps);
  const annotations = { [updatedAtAnnotation]: new Date().toISOString() };
  try {
    return await deps.kube.patch(telemetryDestinationKind, destination.metadata, { metadata: { annotations }, spec });
  } catch (error) {
    if (hasReason(error, "NotFound"))
      throw new AppError("not_found", "the telemetry destination was deleted meanwhile");
    throw error;
  }
};

/**
 * Changes a telemetry destination; sessions that export to it follow. Only one change of it runs at a time, so that its
 * spec always matches its Secret. Throws `bad_request`, `not_found`, `name_taken`, and `conflict` for a new name while
 * settings have the old one.
 */
export const updateDestination = async (
  { idOrName, request }: { idOrName: string; request: UpdateTelemetryDestination },
  project: Project,
  deps: Deps,
): Promise<TelemetryDestinationAnswer> => {
  const { metadata } = await fetchDestination(idOrName, project, deps);
  const changed = await deps.locks.hold(["change-destination", metadata.uid], async () => {
    const destination = await fetchDestination(metadata.name, project, deps);
    await requireRenamable(destination, request, project, deps);
    const headers = await headersAfter(destination, request, deps);
    const work = () => write(destination, { request, headers }, deps);
    if (request.name === undefined) return work();
    const wanted = { name: request.name, what: "telemetry destination", project, ownId: metadata.name };
    return withFreeName(telemetryDestinationKind, wanted, deps, work);
  });
  return describeDestination(changed, deps);
};
