import type { Pod } from "../../../kube/objects.ts";
import type { BrowserRecord } from "../../../leases/lease-store.ts";
import { Termination } from "../../../protocol/agent-api.ts";
import type { PodState } from "./observed.ts";

const endedState = (pod: Pod): PodState => {
  const terminated = pod.status?.containerStatuses?.[0]?.state?.terminated;
  const message = terminated?.message ?? "";
  try {
    const said = Termination.parse(JSON.parse(message));
    return { is: "ended", reason: said.reason, message: said.message };
  } catch {
    // Killed before it could say why, or never started: the pod's own words are all there is.
    const why = pod.status?.message ?? pod.status?.reason ?? terminated?.reason ?? "no termination message";
    return { is: "ended", reason: "lost", message: why };
  }
};

const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;

/** Being deleted by somebody else: it may be in use, also when Redis has forgotten it. */
const isEvicted = (pod: Pod, browser: BrowserRecord | undefined): boolean =>
  browser ? browser.state !== "retired" : isReady(pod);

/** `browser`: the pod's record in the leases, if it has one. `isDying`: its deletion was asked for here. */
export const podState = (pod: Pod, browser: BrowserRecord | undefined, isDying: boolean): PodState => {
  if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") return endedState(pod);
  if (isDying) return { is: "terminating" };
  if (pod.metadata.deletionTimestamp) return { is: isEvicted(pod, browser) ? "evicted" : "terminating" };
  if (!isReady(pod)) return browser ? { is: "unready" } : { is: "starting" };
  if (browser) return { is: "known" };
  return { is: "warm" };
};
