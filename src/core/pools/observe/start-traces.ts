/** Spans of starts: a trace for each browser, from its pod's creation until callers can get it. */
import type { Pod } from "../../../platform/kube/objects.ts";
import { parseTraceparent } from "../../../platform/tracing/trace-context.ts";
import type { Tracer } from "../../../platform/tracing/tracer.ts";
import { browserKind, traceAnnotation } from "../../model/browsers/browser.ts";
import type { PodOwner } from "../pod/pod.ts";
import { startStages } from "./start-stages.ts";

/** A browser's start is told once, by the replica that has seen it become ready. */
export type StartTraces = {
  /** The pod of a start has become ready. */
  ready(pod: Pod): void;
  /** Callers can get this browser of `owner` from now on. */
  registered(owner: PodOwner, podUid: string): void;
  /** Drops all data of a pod that is gone. */
  forget(podUid: string): void;
};

/** Only an on-demand browser is started for a request. Whoever writes the object may write the annotation. */
const requestOf = ({ kind, metadata }: PodOwner) =>
  kind === browserKind.kind ? parseTraceparent(metadata.annotations?.[traceAnnotation]) : undefined;

const ownerAttributes = ({ kind, metadata }: PodOwner): Record<string, string> =>
  kind === browserKind.kind ? { "session.id": metadata.name } : { "browserpool.pool.id": metadata.name };

/** Without a tracer it does nothing and keeps nothing. `now`: ms since 1970. */
export const createStartTraces = (tracer: Tracer | undefined, now: () => number): StartTraces => {
  const started = new Map<string, Pod>();
  return {
    ready(pod) {
      if (tracer) started.set(pod.metadata.uid, pod);
    },
    registered(owner, podUid) {
      const pod = started.get(podUid);
      started.delete(podUid);
      const stages = pod ? startStages(pod) : [];
      const [first, last] = [stages[0], stages.at(-1)];
      if (!tracer || !pod || !first || !last) return;
      const { name, namespace } = pod.metadata;
      // The kubelet's clock may be ahead.
      const endMs = Math.max(last.endMs, now());
      tracer.addOver({
        name: "start",
        link: requestOf(owner),
        ...{ startMs: first.startMs, endMs },
        attributes: {
          "k8s.namespace.name": namespace,
          "browserpool.browser.pod": name,
          ...ownerAttributes(owner),
          ...(pod.spec?.nodeName !== undefined && { "k8s.node.name": pod.spec.nodeName }),
        },
        parts: [...stages, { stage: "registered", startMs: last.endMs, endMs }].map(({ stage, ...times }) => ({
          name: `start.${stage}`,
          ...times,
        })),
      });
    },
    forget: (podUid) => void started.delete(podUid),
  };
};
