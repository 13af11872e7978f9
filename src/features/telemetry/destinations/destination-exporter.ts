/**
 * An exporter that follows its destination: a changed endpoint or header counts from the next batch on, within seconds.
 * It notes what came of each request for the destination's users.
 *
 *   no destination any more          the batch is rejected
 *   settings or headers are broken   the batch waits, like for a receiver that is away
 */

import { fetchObject } from "../../../core/objects/fetch-object.ts";
import type { NetworkFilter } from "../../../platform/addresses/network-filter.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import type { ExportOutcome, OtlpExporter } from "../export/otlp-exporter.ts";
import type { ConnectDeps } from "../export/pinned-connector.ts";
import type { ExportResults } from "../export-state.ts";
import { openDestinationSecret } from "./destination-secret.ts";
import { destinationProblems } from "./rules/destination-problems.ts";
import { type TelemetryDestination, telemetryDestinationKind } from "./telemetry-destination.ts";

/** A destination as an exporter takes it. */
type OpenDestination = {
  endpoint: string;
  headers: Readonly<Record<string, Sensitive>>;
  compression: "gzip" | "none";
  timeoutMs: number;
};

/**
 * A destination with the values of its headers. Throws `conflict` when its settings or its Secret are not as they must
 * be.
 */
export const openDestination = async (
  destination: TelemetryDestination,
  deps: { destinationFilter: NetworkFilter; kube: Kube; secretsKeys: SecretsKeys },
): Promise<OpenDestination> => {
  const { endpoint, compression, timeoutSeconds } = destination.spec;
  const [problem] = destinationProblems(destination.spec, deps.destinationFilter);
  if (problem)
    throw new AppError("conflict", `the telemetry destination ${destination.metadata.name}: ${problem.message}`);
  const headers = Object.fromEntries(await openDestinationSecret(destination, deps));
  return { endpoint, headers, compression, timeoutMs: timeoutSeconds * 1000 };
};

type Deps = {
  destinationFilter: NetworkFilter;
  exportResults: ExportResults;
  kube: Kube;
  log: Logger;
  secretsKeys: SecretsKeys;
};

/** `resolve`: for every name. `now`: ms since the epoch. */
export type ExporterDeps = Deps & Pick<ConnectDeps, "resolve"> & { now: () => number };

/** How long a destination counts as unchanged, ms. After a request that failed it is read again at once. */
const freshMs = 10_000;

/** The reason of a batch that was rejected because its destination is no more. */
export const destinationDeleted = "destination_deleted";

/** A destination that was deleted and made anew under its id is another one. */
type DestinationRef = { id: string; uid: string; namespace: string };

type Opened = { exporter: OtlpExporter; text: string; readAtMs: number };

/** What an exporter depends on, to compare. It has secrets: it stays in memory. */
const textOf = ({ headers, ...rest }: OpenDestination): string =>
  JSON.stringify([rest, Object.entries(headers).map(([name, value]) => [name, value.reveal()])]);

/** One exporter for each destination of a process, shared by its sessions. */
export const createDestinationExporter = (
  { id, uid, namespace }: DestinationRef,
  deps: ExporterDeps,
): Pick<OtlpExporter, "export" | "close"> => {
  let opened: Opened | undefined;
  let opening: Promise<void> | undefined;

  const replace = (next: Opened | undefined): void => {
    if (opened && opened.exporter !== next?.exporter) void opened.exporter.retire();
    opened = next;
  };

  const open = async (): Promise<void> => {
    // OTLP is much code, and most installations have no destination.
    const { createOtlpExporter } = await import("../export/otlp-exporter.ts");
    const destination = await fetchObject(telemetryDestinationKind, { id, project: { namespace } }, deps);
    if (destination?.metadata.uid !== uid) return replace(undefined);
    const settings = await openDestination(destination, deps);
    const text = textOf(settings);
    const { destinationFilter: filter, resolve, now } = deps;
    const exporter = opened?.text === text ? opened.exporter : createOtlpExporter(settings, { filter, resolve, now });
    replace({ exporter, text, readAtMs: now() });
  };

  /** Undefined when there is no such destination. Throws what `openDestination` throws. */
  const current = async (): Promise<OtlpExporter | undefined> => {
    if (!opened || deps.now() - opened.readAtMs >= freshMs) {
      opening ??= open().finally(() => {
        opening = undefined;
      });
      await opening;
    }
    return opened?.exporter;
  };

  const send: OtlpExporter["export"] = async (session, records, signal) => {
    try {
      const exporter = await current();
      if (exporter) return await exporter.export(session, records, signal);
      return { rejected: records.length, reason: destinationDeleted, message: "" };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError)) throw error;
      return { retryAfterMs: 0, reason: "destination_broken" };
    }
  };

  /** What users are told must not hold up what is sent. */
  const note = async (outcome: ExportOutcome): Promise<void> => {
    try {
      if (outcome === "sent") return await deps.exportResults.sent(uid);
      // Somebody may repair it: look again at once.
      if (opened) opened.readAtMs = -Infinity;
      await deps.exportResults.failed(uid, outcome.reason);
    } catch (err) {
      deps.log.warn({ err }, "the result of an export was not kept");
    }
  };

  return {
    async export(session, records, signal) {
      const outcome = await send(session, records, signal);
      await note(outcome);
      return outcome;
    },
    async close() {
      await opened?.exporter.close();
      opened = undefined;
    },
  };
};
