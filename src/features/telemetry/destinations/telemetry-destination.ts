/**
 * The kind TelemetryDestination: a receiver of OTLP over HTTP that browsers' telemetry is exported to (TELEMETRY-11).
 * Its spec has the names of the headers of each request, a Secret their values.
 */
import { z } from "zod";
import { Conditions, observedGeneration } from "../../../platform/kinds/conditions.ts";
import { secretNameFor } from "../../../platform/kinds/identity.ts";
import { apiGroup, type CustomResource, type Kind, validations } from "../../../platform/kinds/kind.ts";
import { nameOnWire, objectName, secretObjectName } from "../../../platform/kinds/selector.ts";

/** Most headers of a destination. */
export const maxHeaders = 32;

/** Most bytes of their names and values together. */
export const maxHeaderBytes = 8192;

/** Names of headers: those that are also names of entries of a Secret. */
const headerNamePattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

/** How the body of a request is compressed. */
const destinationCompressions = ["gzip", "none"] as const;

export const TelemetryDestinationSpec = z
  .object({
    name: objectName.optional().describe("The destination's name, unique within the project. Left out: metadata.name."),
    description: z.string().max(1024).optional().describe("What it is for; for people."),
    endpoint: z
      .string()
      .min(1)
      .max(2048)
      .regex(/^https?:\/\//)
      .describe("Base URL of the receiver of OTLP over HTTP, without a signal's path: /v1/logs is added."),
    compression: z.enum(destinationCompressions).default("gzip").describe("How the body of a request is compressed."),
    timeoutSeconds: z.int().min(1).max(60).default(10).describe("How long the receiver may take for a request."),
    secretRef: z
      .object({ name: secretObjectName.describe("Its name.") })
      .optional()
      .describe("The Secret of the same namespace with the headers' values, one entry for each."),
    headerNames: z
      .array(z.string().regex(headerNamePattern))
      .max(maxHeaders)
      .default([])
      .describe("Names of the headers of each request, which are entries of the Secret too."),
  })
  .meta(
    validations({
      rule: "has(self.secretRef) || !has(self.headerNames) || size(self.headerNames) == 0",
      message: "headerNames need a secretRef",
      fieldPath: ".secretRef",
    }),
  )
  .describe("The receiver, and how requests to it are.");
export type TelemetryDestinationSpec = z.infer<typeof TelemetryDestinationSpec>;

const TelemetryDestinationStatus = z
  .object({ observedGeneration, conditions: Conditions })
  .describe("The observed state of the destination. Written by the operator.");

export type TelemetryDestination = CustomResource<typeof TelemetryDestinationSpec, typeof TelemetryDestinationStatus>;

export const telemetryDestinationKind: Kind<typeof TelemetryDestinationSpec, typeof TelemetryDestinationStatus> = {
  ...apiGroup,
  kind: "TelemetryDestination",
  plural: "telemetrydestinations",
  shortNames: ["td"],
  namespaced: true,
  description: "A receiver of OTLP that telemetry is exported to. The values of its headers are in a Secret.",
  spec: TelemetryDestinationSpec,
  status: TelemetryDestinationStatus,
  printerColumns: [
    { name: "Endpoint", type: "string", jsonPath: ".spec.endpoint" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

const ownSecretPrefix = "telemetry-destination-";

/**
 * The name of a destination's own Secret: the HTTP API writes it, and the operator deletes it with the destination,
 * even if a user created it. A Secret with another name belongs to a user and is only read.
 */
export const ownDestinationSecretName = (destinationName: string): string =>
  secretNameFor(ownSecretPrefix, destinationName);

/** Whether the values are in the destination's own Secret. */
export const hasOwnDestinationSecret = ({ metadata, spec }: TelemetryDestination): boolean =>
  spec.secretRef?.name === ownDestinationSecretName(metadata.name);

// Telemetry destinations over HTTP; field names as on the wire (`telemetry.destinations` of the public SDKs). Answers
// have no header's value.

/** Printable ASCII, and spaces only within: what every server reads alike. */
const headerValuePattern = /^[!-~](?:[ -~]*[!-~])?$/;

const headerName = z.string().regex(headerNamePattern);
const headerValue = z.string().min(1).max(maxHeaderBytes).regex(headerValuePattern);

const bytesOf = (headers: Record<string, string | null>): number =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + (value ?? "").length, 0);

const bounded = <S extends z.ZodType<Record<string, string | null>>>(schema: S): S =>
  schema
    .refine((given) => Object.keys(given).length <= 2 * maxHeaders, `at most ${maxHeaders} headers`)
    .refine(
      (given) => bytesOf(given) <= maxHeaderBytes,
      `at most ${maxHeaderBytes} bytes of names and values together`,
    );

const name = nameOnWire;
const description = z.string().max(1024);
const endpoint = TelemetryDestinationSpec.shape.endpoint.describe(
  "Base URL of the receiver of OTLP over HTTP, without a signal's path: /v1/logs is added. Its address must be public.",
);
const compression = z.enum(destinationCompressions);
const timeout_seconds = z.int().min(1).max(60);

/** The request of `POST /telemetry/destinations`. */
export const CreateTelemetryDestination = z.object({
  name: name.describe("The destination's name, unique within the project."),
  endpoint,
  description: description.optional().describe("What it is for; for people."),
  headers: bounded(z.record(headerName, headerValue))
    .optional()
    .describe("Headers of each request, typically a key. Names are the same in any case. Values are never answered."),
  compression: compression.optional().describe("How the body of a request is compressed. Left out: gzip."),
  timeout_seconds: timeout_seconds.optional().describe("How long the receiver may take for a request. Left out: 10."),
});
export type CreateTelemetryDestination = z.infer<typeof CreateTelemetryDestination>;

/** The request of `PATCH /telemetry/destinations/{id_or_name}`; what is left out stays. */
export const UpdateTelemetryDestination = z.object({
  name: name.optional().describe("The new name, unique within the project."),
  endpoint: endpoint.optional(),
  description: description.optional().describe("The new description; an empty one is none."),
  headers: bounded(z.record(headerName, headerValue.nullable()))
    .optional()
    .describe("A text sets the header of that name, null removes it; others stay. Another server needs all anew."),
  compression: compression.optional().describe("How the body of a request is compressed."),
  timeout_seconds: timeout_seconds.optional().describe("How long the receiver may take for a request."),
});
export type UpdateTelemetryDestination = z.infer<typeof UpdateTelemetryDestination>;

export const TelemetryDestinationAnswer = z.object({
  id: z.string().describe("The destination's id."),
  name: z.string().describe("The destination's name."),
  description: z.string().optional().describe("What it is for."),
  endpoint: z.string().describe("Base URL of the receiver."),
  headers: z.record(z.string(), z.literal("")).describe("The headers' names; the values are never answered."),
  compression: compression.describe("How the body of a request is compressed."),
  timeout_seconds: timeout_seconds.describe("How long the receiver may take for a request."),
  consecutive_failures: z.int().min(0).describe("Failed requests since the last one that the receiver took."),
  last_error: z.string().optional().describe("What the last failure was, in a word; it stays after a success."),
  last_error_at: z.iso.datetime().optional().describe("When that was."),
  last_export_at: z.iso.datetime().optional().describe("When the receiver last took a request."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type TelemetryDestinationAnswer = z.infer<typeof TelemetryDestinationAnswer>;
