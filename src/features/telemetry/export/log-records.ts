/** Events of a session → log records of OpenTelemetry, as its serializer takes them; pure. */
import type { ProtobufLogsSerializer } from "@opentelemetry/otlp-transformer";
import type { TelemetryEvent, TelemetryRecord } from "../telemetry-event.ts";

type LogRecord = Parameters<typeof ProtobufLogsSerializer.serializeRequest>[0][number];
type Value = LogRecord["body"];

/** Whose events they are. */
export type ExportedSession = {
  sessionId: string;
  projectId: string;
  poolId?: string | undefined;
  poolName?: string | undefined;
};

/** OpenTelemetry's numbers of severities. */
const info = { severityNumber: 9, severityText: "INFO" } as const;
const error = { severityNumber: 17, severityText: "ERROR" } as const;

const errorTypes: ReadonlySet<string> = new Set([
  "console_error",
  "network_loading_failed",
  "service_crashed",
  "system_oom_kill",
]);

/**
 * Data deeper than this is a text: serializers and receivers recurse, many to 100 levels, and pages choose what they
 * log.
 */
const maxDepth = 8;

const isNothing = (value: unknown): boolean => value === undefined || value === null;

const bodyValue = (value: unknown, depth: number): Value => {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (isNothing(value)) return undefined;
  if (depth >= maxDepth) return JSON.stringify(value);
  if (Array.isArray(value)) return value.map((each) => bodyValue(each, depth + 1));
  return mapValue(value as Record<string, unknown>, depth);
};

const mapValue = (map: Record<string, unknown>, depth: number): Value =>
  Object.fromEntries(
    Object.entries(map)
      .filter(([, value]) => !isNothing(value))
      .map(([name, value]) => [name, bodyValue(value, depth + 1)]),
  );

const textAttributes = (prefix: string, texts: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [`${prefix}${name}`, text]));

const attributesOf = ({ seq, event: { category, source, truncated } }: TelemetryRecord, sessionId: string) => ({
  "session.id": sessionId,
  "browserpool.telemetry.category": category,
  "browserpool.telemetry.seq": seq,
  "browserpool.telemetry.source.kind": source.kind,
  ...(source.event !== undefined && { "browserpool.telemetry.source.event": source.event }),
  ...textAttributes("browserpool.telemetry.source.", source.metadata),
  ...(truncated && { "browserpool.telemetry.truncated": true }),
});

/** Seconds and nanoseconds of a time in microseconds. */
const hrTime = (microseconds: number): [number, number] => [
  Math.floor(microseconds / 1e6),
  (Math.floor(microseconds) % 1e6) * 1000,
];

/** The serializer wants OpenTelemetry's own type, of which it reads no more than this. */
const resourceOf = ({ sessionId, projectId, poolId, poolName }: ExportedSession): LogRecord["resource"] => {
  const attributes = {
    "service.name": "browserpool",
    "session.id": sessionId,
    "browserpool.project.id": projectId,
    ...(poolId !== undefined && { "browserpool.pool.id": poolId }),
    ...(poolName !== undefined && { "browserpool.pool.name": poolName }),
  };
  const resource: LogRecord["resource"] = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  };
  return resource;
};

const severityOf = ({ type }: TelemetryEvent) => (errorTypes.has(type) ? error : info);

const instrumentationScope = { name: "browserpool.telemetry" };

/** `observedMs`: now, ms since the epoch. */
export const logRecordsOf = (
  session: ExportedSession,
  records: readonly TelemetryRecord[],
  observedMs: number,
): LogRecord[] => {
  const resource = resourceOf(session);
  return records.map((record) => ({
    hrTime: hrTime(record.event.ts),
    hrTimeObserved: hrTime(observedMs * 1000),
    ...severityOf(record.event),
    eventName: record.event.type,
    ...(record.event.data && { body: mapValue(record.event.data, 0) }),
    attributes: attributesOf(record, session.sessionId),
    droppedAttributesCount: 0,
    resource,
    instrumentationScope,
  }));
};
