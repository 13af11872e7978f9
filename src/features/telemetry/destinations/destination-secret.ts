/**
 * The content of a telemetry destination's Secret: the values of its headers, each encrypted like stored logins. No
 * other file reads or writes such a Secret. Errors name entries, never their content.
 *
 * The destination's own Secret also says for which server its values are. So nobody who may change an endpoint, but not
 * read the Secret, gets the values sent to a server of theirs.
 */

import { AppError } from "../../../platform/base/errors.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { hasReason } from "../../../platform/kube/kube-error.ts";
import type { NewObject, Secret } from "../../../platform/kube/objects.ts";
import { secrets, typeMeta } from "../../../platform/kube/resource-type.ts";
import { open, type SecretsKeys, seal } from "../../../platform/secrets/sealing.ts";
import { canonicalHeader, endpointOrigin } from "./rules/destination-problems.ts";
import {
  hasOwnDestinationSecret,
  maxHeaderBytes,
  ownDestinationSecretName,
  type TelemetryDestination,
  telemetryDestinationKind,
} from "./telemetry-destination.ts";

/** Values by the usual spelling of their header's name. */
export type DestinationHeaders = ReadonlyMap<string, Sensitive>;

type ReadDeps = { kube: Pick<Kube, "get">; secretsKeys: SecretsKeys };
type WriteDeps = { kube: Pick<Kube, "get" | "create" | "patch">; secretsKeys: SecretsKeys };

/** The type of these Secrets, a user's too: a destination must not give away Secrets with another purpose. */
const secretType = "browserpool.dev/telemetry-destination";

/** Annotation of a destination's own Secret: the origin that its values are for. */
const originAnnotation = "browserpool.dev/origin";

const broken = (destination: TelemetryDestination, why: string): AppError =>
  new AppError("conflict", `the telemetry destination ${destination.metadata.name} can't be used: ${why}`);

const placeOf = ({ metadata }: TelemetryDestination) => ({
  namespace: metadata.namespace,
  name: ownDestinationSecretName(metadata.name),
});

const readOwn = (secret: Secret, destination: TelemetryDestination, keys: SecretsKeys): DestinationHeaders =>
  new Map(
    Object.entries(secret.data ?? {}).map(([entry, stored]) => {
      const text = Buffer.from(stored, "base64").toString("utf8");
      return [canonicalHeader(entry), open(text, keys, { ...placeOf(destination), entry })];
    }),
  );

/** A user's file of a Secret often ends with a line break, which is no part of the value. */
const readGiven = (secret: Secret, destination: TelemetryDestination): DestinationHeaders =>
  new Map(
    destination.spec.headerNames.map((name) => {
      const stored = secret.data?.[name];
      if (stored === undefined) throw broken(destination, `its Secret has no entry ${name}`);
      const value = Buffer.from(stored, "base64")
        .toString("utf8")
        .replace(/\r?\n$/, "");
      if (!/^[ -~]{1,8192}$/.test(value)) throw broken(destination, `the entry ${name} is no value of a header`);
      return [canonicalHeader(name), new Sensitive(value)];
    }),
  );

const checkSize = (destination: TelemetryDestination, headers: DestinationHeaders): DestinationHeaders => {
  const bytes = [...headers].reduce((sum, [name, value]) => sum + name.length + value.reveal().length, 0);
  if (bytes > maxHeaderBytes) throw broken(destination, `its headers have more than ${maxHeaderBytes} bytes`);
  return headers;
};

/** The origin that the stored values are for; undefined when nothing is stored. */
export const storedOrigin = async (
  destination: TelemetryDestination,
  { kube }: Pick<ReadDeps, "kube">,
): Promise<string | undefined> =>
  (await kube.get(secrets, placeOf(destination)))?.metadata.annotations?.[originAnnotation];

/**
 * Reads the values of a destination's headers. Throws `conflict` when they are not there, malformed, or were stored for
 * another server, and `internal_error` when they are encrypted with an unknown key.
 */
export const openDestinationSecret = async (
  destination: TelemetryDestination,
  { kube, secretsKeys }: ReadDeps,
): Promise<DestinationHeaders> => {
  const { secretRef, endpoint, headerNames } = destination.spec;
  if (!secretRef || headerNames.length === 0) return new Map();
  const { namespace } = destination.metadata;
  const secret = await kube.get(secrets, { namespace, name: secretRef.name });
  if (secret?.type !== secretType)
    throw broken(destination, `there is no Secret ${secretRef.name} of the type ${secretType}`);
  if (!hasOwnDestinationSecret(destination)) return checkSize(destination, readGiven(secret, destination));
  if (secret.metadata.annotations?.[originAnnotation] !== endpointOrigin(endpoint))
    throw broken(destination, "its headers were given for another server: give them again");
  return checkSize(destination, readOwn(secret, destination, secretsKeys));
};

const dataOf = (destination: TelemetryDestination, headers: DestinationHeaders, keys: SecretsKeys) =>
  Object.fromEntries(
    [...headers].map(([entry, value]) => {
      const sealed = seal(value, keys, { ...placeOf(destination), entry });
      return [entry, Buffer.from(sealed).toString("base64")];
    }),
  );

/** An error message of the API server can quote what was written. */
const withoutContent = (error: unknown): unknown =>
  error instanceof AppError && error.code === "bad_request"
    ? new AppError("bad_request", "the Kubernetes API refuses to store the headers")
    : error;

/**
 * Writes all headers, for the server of `endpoint`; creates the Secret where there is none. Only one such write of it
 * may run.
 */
export const writeDestinationSecret = async (
  destination: TelemetryDestination,
  { headers, endpoint }: { headers: DestinationHeaders; endpoint: string },
  { kube, secretsKeys }: WriteDeps,
): Promise<void> => {
  const place = placeOf(destination);
  const { name, uid } = destination.metadata;
  const data = dataOf(destination, headers, secretsKeys);
  const annotations = { [originAnnotation]: endpointOrigin(endpoint) };
  const fresh: NewObject<Secret> = {
    metadata: { ...place, annotations, ownerReferences: [{ ...typeMeta(telemetryDestinationKind), name, uid }] },
    type: secretType,
    data,
  };
  try {
    const present = await kube.get(secrets, place);
    if (!present) return void (await kube.create(secrets, fresh));
    const gone = Object.fromEntries(Object.keys(present.data ?? {}).map((entry) => [entry, null]));
    await kube.patch(secrets, place, { metadata: { annotations }, data: { ...gone, ...data } });
  } catch (error) {
    if (hasReason(error, "AlreadyExists") || hasReason(error, "NotFound"))
      throw new AppError("unavailable", "the destination's Secret was changed meanwhile", { retryAfterSeconds: 1 });
    throw withoutContent(error);
  }
};
