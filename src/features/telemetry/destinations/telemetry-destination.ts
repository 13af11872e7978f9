/**
 * The kind TelemetryDestination: a receiver of OTLP over HTTP that browsers' telemetry is exported to (TELEMETRY-11). Its spec has the
 * names of the headers of each request, a Secret their values.
 */
import { z } from "zod";
import { Conditions } from "../../../platform/kinds/conditions.ts";
import { apiGroup, type CustomResource, type Kind, validations } from "../../../platform/kinds/kind.ts";
import { observedGeneration } from "../../../platform/kinds/observed-generation.ts";
import { secretNameFor } from "../../../platform/kinds/secret-name.ts";
import { objectName, secretObjectName } from "../../../platform/kinds/selector.ts";

/** Most headers of a destination. */
export const maxHeaders = 32;

/** Most bytes of their names and values together. */
export const maxHeaderBytes = 8192;

/** Names of headers: those that are also names of entries of a Secret. */
export const headerNamePattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

/** How the body of a request is compressed. */
export const destinationCompressions = ["gzip", "none"] as const;

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
 * The name of a destination's own Secret: the HTTP API writes it, and the operator deletes it with the destination, even if a user
 * created it. A Secret with another name belongs to a user and is only read.
 */
export const ownDestinationSecretName = (destinationName: string): string =>
  secretNameFor(ownSecretPrefix, destinationName);

/** Whether the values are in the destination's own Secret. */
export const hasOwnDestinationSecret = ({ metadata, spec }: TelemetryDestination): boolean =>
  spec.secretRef?.name === ownDestinationSecretName(metadata.name);
