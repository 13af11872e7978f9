import { type Lane, systemNamespace } from "../lane.ts";

type Component = "api" | "operator";

const targetOf = (component: Component) => [`deployment/browserpool-${component}`, "--namespace", systemNamespace];

/** Resolves when a component has all its replicas, and they are available; those that stop don't count. */
export const whenRolledOut = ({ kubectl }: Lane, component: Component): Promise<string> =>
  kubectl("rollout", "status", ...targetOf(component), "--timeout", "5m");

/** Replaces the replicas of a component one after the other, and resolves when the new ones are available. */
export const restart = async (lane: Lane, component: Component): Promise<void> => {
  await lane.kubectl("rollout", "restart", ...targetOf(component));
  await whenRolledOut(lane, component);
};
