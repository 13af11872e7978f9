import type { NetworkJudge } from "../../../platform/addresses/network-judge.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/secrets-key.ts";
import { openDestinationSecret } from "./destination-secret.ts";
import { destinationProblems } from "./rules/destination-problems.ts";
import type { TelemetryDestination } from "./telemetry-destination.ts";

/** A destination as an exporter takes it. */
export type OpenDestination = {
  endpoint: string;
  headers: Readonly<Record<string, Sensitive>>;
  compression: "gzip" | "none";
  timeoutMs: number;
};

/** A destination with the values of its headers. Throws `conflict` when its settings or its Secret are not as they must be. */
export const openDestination = async (
  destination: TelemetryDestination,
  deps: { destinationJudge: NetworkJudge; kube: Kube; secretsKeys: SecretsKeys },
): Promise<OpenDestination> => {
  const { endpoint, compression, timeoutSeconds } = destination.spec;
  const [problem] = destinationProblems(destination.spec, deps.destinationJudge);
  if (problem)
    throw new AppError("conflict", `the telemetry destination ${destination.metadata.name}: ${problem.message}`);
  const headers = Object.fromEntries(await openDestinationSecret(destination, deps));
  return { endpoint, headers, compression, timeoutMs: timeoutSeconds * 1000 };
};
