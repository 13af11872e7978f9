import type { TelemetryDestinationAnswer } from "../../../telemetry/destinations/telemetry-destination.ts";
import { nameRule } from "../service/words.ts";
import type { Field } from "./form-fields.tsx";

/** The fields of a destination: of a new one, or of this one. */
export const destinationFields = (destination?: TelemetryDestinationAnswer): Field[] => {
  const stored = Object.keys(destination?.headers ?? {});
  return [
    { name: "name", label: "Name", hint: nameRule, isRequired: true, initial: destination?.name },
    {
      ...{ name: "endpoint", label: "Endpoint", isRequired: true, initial: destination?.endpoint },
      hint: "Such as https://otel.example:4318, without /v1/logs. Its address must be public.",
    },
    { name: "description", label: "What it is for", hint: "May stay empty.", initial: destination?.description },
    {
      ...{ name: "compression", label: "Compression", kind: "choice", initial: destination?.compression },
      options: [{ value: "gzip" }, { value: "none" }],
    },
    {
      ...{ name: "timeout_seconds", label: "Time for a request, s", kind: "number", min: 1, max: 60 },
      initial: destination?.timeout_seconds ?? 10,
    },
    {
      ...{ name: "headers", label: destination ? "Headers to store" : "Headers", kind: "pairs", nameOfOne: "header" },
      hint: destination
        ? "A value takes the place of the stored one of its name; the others stay. Another server needs all of them anew."
        : "Sent with each request, typically a key. Values are stored, and shown to nobody again.",
    },
    {
      ...{ name: "without", label: "Headers to remove", kind: "flags", isLeftOut: stored.length === 0 },
      options: stored.map((value) => ({ value })),
    },
  ];
};
