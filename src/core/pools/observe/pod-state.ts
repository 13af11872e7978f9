import type { Pod } from "../../../platform/kube/objects.ts";
import type { BrowserRecord } from "../../leases/lease-store.ts";
import { Termination } from "../../protocol/agent-api.ts";
import { agentName } from "../pod/agent-name.ts";
import type { PodState } from "./observed.ts";

/** How the agent's container has ended, if it has. The pods of a template may have further containers, in any order. */
export const agentEnd = ({ status }: Pick<Pod, "status">) =>
  status?.containerStatuses?.find(({ name }) => name === agentName)?.state?.terminated;

const endedState = (pod: Pod): PodState => {
  const terminated = agentEnd(pod);
  const message = terminated?.message ?? "";
  try {
    const said = Termination.parse(JSON.parse(message));
    return { is: "ended", reason: said.reason, message: said.message };
  } catch {
    // The agent was killed before it could write its message, or it never started: only the pod's status can say why.
    const why = pod.status?.message ?? pod.status?.reason ?? terminated?.reason ?? "no termination message";
    return { is: "ended", reason: "lost", message: why };
  }
};

/** Whether the pod's agent has ended. A further container may run on, and with it the pod. */
export const isOver = (pod: Pod): boolean =>
  pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed" || agentEnd(pod) !== undefined;

/** Whether the pod's probe succeeds. */
export const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;

/** For a pod that this replica did not delete: whether its browser may be in use, even if Redis has forgotten it. */
const isEvicted = (pod: Pod, browser: BrowserRecord | undefined): boolean =>
  browser ? browser.state !== "retired" : isReady(pod);

type PodFacts = {
  /** The pod's record in Redis, if it has one. */
  browser: BrowserRecord | undefined;
  /** This replica has deleted the pod. */
  isDying: boolean;
};

/** The state of a pod, as its object and its record show it. */
export const podState = (pod: Pod, { browser, isDying }: PodFacts): PodState => {
  if (isOver(pod)) return endedState(pod);
  if (isDying) return { is: "terminating" };
  if (pod.metadata.deletionTimestamp) return { is: isEvicted(pod, browser) ? "evicted" : "terminating" };
  if (!isReady(pod)) return browser ? { is: "unready" } : { is: "starting" };
  return browser ? { is: "known" } : { is: "warm" };
};
