import { createHash } from "node:crypto";
import type { Logger } from "../base/log.ts";
import type { Kube } from "./client.ts";
import { hasReason } from "./kube-error.ts";
import type { KubeObject } from "./objects.ts";
import { events } from "./resource-type.ts";

export type EventNote = {
  /** The object that the event is about. Objects of lists carry no type meta: it is added to them. */
  regarding: KubeObject & { apiVersion: string; kind: string };
  type: "Normal" | "Warning";
  /** CamelCase, from a fixed set. */
  reason: string;
  /** Text for users, without secrets; cut to 1,024 characters. */
  note: string;
};

/** Records an Event without waiting for the write; a failed write is only logged. */
export type RecordEvent = (note: EventNote) => void;

const microTime = (): string => new Date().toISOString().replace("Z", "000Z");

/** Records repeated notes about one object as one Event whose `series` counts them, as the events API requires. */
export const createEventRecorder = (kube: Kube, controller: string, log: Logger): RecordEvent => {
  const write = async ({ regarding, type, reason, note }: EventNote): Promise<void> => {
    const { name, namespace = "default", uid } = regarding.metadata;
    const hash = createHash("sha256").update(`${uid}/${reason}/${note}`).digest("hex").slice(0, 16);
    const ref = { namespace, name: `${name.slice(0, 230)}.${hash}` };
    const event = {
      metadata: ref,
      eventTime: microTime(),
      reportingController: `browserpool.dev/${controller}`,
      reportingInstance: controller,
      action: reason,
      type,
      reason,
      note: note.slice(0, 1024),
      regarding: { apiVersion: regarding.apiVersion, kind: regarding.kind, namespace, name, uid },
    };
    try {
      await kube.create(events, event);
    } catch (error) {
      if (!hasReason(error, "AlreadyExists")) throw error;
      const known = await kube.get(events, ref);
      const count = (known?.series?.count ?? 1) + 1;
      await kube.patch(events, ref, { series: { count, lastObservedTime: microTime() } });
    }
  };
  return (note) =>
    void write(note).catch((err: unknown) => log.warn({ err, reason: note.reason }, "event not recorded"));
};
