import { newId } from "../../../core/objects/new-id.ts";
import { withFreeName } from "../../../core/objects/with-free-name.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { NetworkJudge } from "../../../platform/addresses/network-judge.ts";
import { AppError, invalidInput } from "../../../platform/base/errors.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import { secretFinalizer } from "../../../platform/kinds/finalizers.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/secrets-key.ts";
import type { ExportResults } from "../export-results.ts";
import { checkDestination } from "./check-destination.ts";
import { type DestinationHeaders, writeDestinationSecret } from "./destination-secret.ts";
import { destinationAnswer, fetchDestinations } from "./fetch-destination.ts";
import { canonicalHeader } from "./rules/destination-problems.ts";
import {
  ownDestinationSecretName,
  type TelemetryDestination,
  TelemetryDestinationSpec,
  telemetryDestinationKind,
} from "./telemetry-destination.ts";
import type { CreateTelemetryDestination, TelemetryDestinationRecord } from "./telemetry-destination-wire.ts";

type Deps = {
  destinationJudge: NetworkJudge;
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

const requireRoom = async (project: Project, deps: Deps): Promise<void> => {
  if ((await fetchDestinations(project, deps)).length >= mostInProject)
    throw new AppError("conflict", `a project has at most ${mostInProject} telemetry destinations: delete one first`);
};

/** Creates the object first, since it owns the Secret. When the headers can't be stored, it deletes the object again. */
const store = async (
  spec: TelemetryDestinationSpec,
  { id, headers, project }: { id: string; headers: DestinationHeaders; project: Project },
  deps: Deps,
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
  deps: Deps,
): Promise<TelemetryDestinationRecord> => {
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
  return destinationAnswer(created, deps);
};
