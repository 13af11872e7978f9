/** What Kubernetes and the operator say of a pool and its browsers' pods, as Events. */
import { z } from "zod";
import type { Kube } from "../../../platform/kube/client.ts";
import type { KubeEvent } from "../../../platform/kube/objects.ts";
import { events } from "../../../platform/kube/resource-type.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { isPodSuffix } from "../../protocol/agent-key.ts";
import { prefixOf } from "../pod/pod.ts";

/** An Event on the wire. */
export const PoolEvent = z.object({
  type: z.string().describe("Normal or Warning."),
  reason: z.string().describe("One word that says why, for programs."),
  message: z.string().describe("A sentence that says why, for people."),
  kind: z.string().describe("What it is about: BrowserPool or Pod."),
  name: z.string().describe("The name of that object."),
  node: z.string().optional().describe("The node whose kubelet says it."),
  count: z.int().describe("How often it happened."),
  last_seen_at: z.iso.datetime(),
});
export type PoolEvent = z.infer<typeof PoolEvent>;

/** Events of pods that are read at most: those of a whole project come, and only their names tell whose they are. */
const mostOfPods = 2000;

/** Events that are answered at most. */
const mostEvents = 100;

const lastSeen = ({ series, deprecatedLastTimestamp, eventTime, metadata }: KubeEvent): string =>
  new Date(
    series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? 0,
  ).toISOString();

const answerOf = (event: KubeEvent): PoolEvent => {
  const node = event.reportingController === "kubelet" ? event.reportingInstance : event.deprecatedSource?.host;
  return {
    type: event.type ?? "Normal",
    reason: event.reason ?? "Unknown",
    message: event.note ?? "",
    kind: event.regarding?.kind ?? "",
    name: event.regarding?.name ?? "",
    ...(node && { node }),
    count: Math.max(1, event.series?.count ?? event.deprecatedCount ?? 1),
    last_seen_at: lastSeen(event),
  };
};

/** Whether a pod with this name is of this pool, as far as a name can tell. */
const isPodNameOf = ({ metadata }: BrowserPool, podName: string): boolean => {
  const prefix = `${prefixOf(metadata.name)}-`;
  return podName.startsWith(prefix) && isPodSuffix(podName.slice(prefix.length));
};

/** The Events of a pool, and the warnings about its pods, the latest first. Kubernetes keeps them for an hour or so. */
export const poolEvents = async (pool: BrowserPool, { kube }: { kube: Kube }): Promise<PoolEvent[]> => {
  const { namespace, name } = pool.metadata;
  const [ofPool, ofPods] = await Promise.all([
    kube.list(events, { namespace, fieldSelector: `regarding.kind=BrowserPool,regarding.name=${name}` }),
    kube.list(events, { namespace, fieldSelector: "regarding.kind=Pod,type=Warning", limit: mostOfPods }),
  ]);
  const own = ofPods.items.filter(({ regarding }) => isPodNameOf(pool, regarding?.name ?? ""));
  return [...ofPool.items, ...own]
    .map(answerOf)
    .sort((a, b) => (a.last_seen_at < b.last_seen_at ? 1 : -1))
    .slice(0, mostEvents);
};
