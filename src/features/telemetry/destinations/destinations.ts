import type { LeaseStore } from "../../../core/leases/lease-store.ts";
import { fetchNamedObject, fetchObjects } from "../../../core/objects/fetch-object.ts";
import { newId } from "../../../core/objects/new-id.ts";
import { requireUnused } from "../../../core/objects/references.ts";
import { withFreeName } from "../../../core/objects/with-free-name.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { NetworkFilter } from "../../../platform/addresses/network-filter.ts";
import { AppError, invalidInput } from "../../../platform/base/errors.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import { wireName } from "../../../platform/kinds/identity.ts";
import { secretFinalizer } from "../../../platform/kinds/kind.ts";
import { joinPath } from "../../../platform/kinds/wire.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SpecProblem } from "../../../platform/rules/problem.ts";
import { looksSealed, type SecretsKeys } from "../../../platform/secrets/sealing.ts";
import type { ExportResults } from "../export-state.ts";
import { type DestinationHeaders, writeDestinationSecret } from "./destination-secret.ts";
import { destinationAnswer } from "./rules/destination-answer.ts";
import { canonicalHeader, destinationProblems } from "./rules/destination-problems.ts";
import {
  type CreateTelemetryDestination,
  maxHeaderBytes,
  maxHeaders,
  ownDestinationSecretName,
  type TelemetryDestination,
  type TelemetryDestinationAnswer,
  TelemetryDestinationSpec,
  telemetryDestinationKind,
} from "./telemetry-destination.ts";

/** A telemetry destination as HTTP answers show it. */
export const describeDestination = async (
  destination: TelemetryDestination,
  { exportResults }: { exportResults: ExportResults },
): Promise<TelemetryDestinationAnswer> =>
  destinationAnswer(destination, await exportResults.read(destination.metadata.uid));

/** Fetches the telemetry destinations of a project, oldest first. */
const fetchDestinations = (project: Project, deps: { kube: Kube }): Promise<TelemetryDestination[]> =>
  fetchObjects(telemetryDestinationKind, project, deps);

/** Fetches a telemetry destination by its id, else by its name. Throws `not_found`. */
export const fetchDestination = (
  idOrName: string,
  project: Project,
  deps: { kube: Kube },
): Promise<TelemetryDestination> =>
  fetchNamedObject(telemetryDestinationKind, { idOrName, project, what: "telemetry destination" }, deps);

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

/** A place of a spec as requests write it. */
const wirePlace = ({ path: [first = "", ...rest], message }: SpecProblem) => ({
  path: first === "headerNames" ? "headers" : joinPath([first, ...rest]),
  message,
});

/** Throws `bad_request` for a destination that can't be one. No message quotes a header's value. */
export const checkDestination = (
  spec: TelemetryDestinationSpec,
  headers: DestinationHeaders,
  { destinationFilter }: { destinationFilter: NetworkFilter },
): void => {
  const problems = destinationProblems(spec, destinationFilter).map(wirePlace);
  const texts = [...headers].map(([name, value]) => [name, value.reveal()] as const);
  const bytes = texts.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  if (headers.size > maxHeaders) problems.push({ path: "headers", message: `at most ${maxHeaders} headers` });
  if (bytes > maxHeaderBytes)
    problems.push({ path: "headers", message: `at most ${maxHeaderBytes} bytes of names and values together` });
  for (const [name, text] of texts)
    if (looksSealed(text)) problems.push({ path: `headers.${name}`, message: "begins like an encrypted value" });
  if (problems.length > 0) throw invalidInput(problems);
};

type CreateDeps = {
  destinationFilter: NetworkFilter;
  exportResults: ExportResults;
  kube: Kube;
  locks: Locks;
  secretsKeys: SecretsKeys;
};

/** Telemetry destinations of a project (LIMIT-30). */
const mostInProject = 50;

const headersOf = (given: Record<string, string>): DestinationHeaders => {
  const headers = new Map<string, Sensitive>();
  for (const [name, value] of Object.entries(given)) {
    const canonical = canonicalHeader(name);
    if (headers.has(canonical)) throw invalidInput([{ path: "headers", message: `${canonical} is given twice` }]);
    headers.set(canonical, new Sensitive(value));
  }
  return headers;
};

const requireRoom = async (project: Project, deps: CreateDeps): Promise<void> => {
  if ((await fetchDestinations(project, deps)).length >= mostInProject)
    throw new AppError("conflict", `a project has at most ${mostInProject} telemetry destinations: delete one first`);
};

/**
 * Creates the object first, since it owns the Secret. When the headers can't be stored, it deletes the object again.
 */
const store = async (
  spec: TelemetryDestinationSpec,
  { id, headers, project }: { id: string; headers: DestinationHeaders; project: Project },
  deps: CreateDeps,
): Promise<TelemetryDestination> => {
  const metadata = { name: id, namespace: project.namespace, finalizers: [secretFinalizer] };
  const created = await deps.kube.create(telemetryDestinationKind, { metadata, spec });
  try {
    if (headers.size > 0) await writeDestinationSecret(created, { headers, endpoint: spec.endpoint }, deps);
  } catch (error) {
    await deps.kube.delete(telemetryDestinationKind, created.metadata).catch(() => undefined);
    throw error;
  }
  return created;
};

/** Throws `bad_request`, `name_taken`, and `conflict` when the project has as many as it may. */
export const createDestination = async (
  request: CreateTelemetryDestination,
  project: Project,
  deps: CreateDeps,
): Promise<TelemetryDestinationAnswer> => {
  const { name, endpoint, description, compression, timeout_seconds, headers: given = {} } = request;
  const id = newId();
  const headers = headersOf(given);
  const spec = TelemetryDestinationSpec.parse({
    name,
    endpoint,
    ...(description && { description }),
    compression,
    timeoutSeconds: timeout_seconds,
    ...(headers.size > 0 && { secretRef: { name: ownDestinationSecretName(id) }, headerNames: [...headers.keys()] }),
  });
  checkDestination(spec, headers, deps);
  const what = "telemetry destination";
  const created = await deps.locks.hold(["create-destination", project.namespace], () =>
    withFreeName(telemetryDestinationKind, { name, what, project }, deps, async () => {
      await requireRoom(project, deps);
      return store(spec, { id, headers, project }, deps);
    }),
  );
  return describeDestination(created, deps);
};

/**
 * Deletes a telemetry destination; the operator deletes its Secret and then removes its finalizer. Throws `not_found`,
 * and `conflict` while a pool, a browser or a session's holder refers to it.
 */
export const deleteDestination = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const object = await fetchDestination(idOrName, project, deps);
  await requireUnused({ kind: "TelemetryDestination", object, what: "telemetry destination" }, project, deps);
  await deps.kube.delete(telemetryDestinationKind, object.metadata, { uid: object.metadata.uid });
};
