import { type Lane, systemNamespace } from "../lane.ts";

/** Replaces the replicas of a component one after the other, and resolves when the new ones are available. */
export const restart = async ({ kubectl }: Lane, component: "api" | "operator"): Promise<void> => {
  const target = [`deployment/browserpool-${component}`, "--namespace", systemNamespace];
  await kubectl("rollout", "restart", ...target);
  await kubectl("rollout", "status", ...target, "--timeout", "5m");
};
