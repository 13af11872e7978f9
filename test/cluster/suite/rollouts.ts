import { type Phase, systemNamespace } from "../lane.ts";
import { underLoad } from "./under-load.ts";

const restart = (deployment: string, kubectl: (...args: string[]) => Promise<string>) => async () => {
  const target = [`deployment/browserpool-${deployment}`, "--namespace", systemNamespace];
  await kubectl("rollout", "restart", ...target);
  await kubectl("rollout", "status", ...target, "--timeout", "5m");
};

export const rollouts: Phase = {
  name: "rollouts",
  summary: "restarts of operator and api under load",
  async run(lane, check) {
    await underLoad(lane, check, {
      name: "rollouts",
      async change() {
        await check("the operator's replicas are replaced", restart("operator", lane.kubectl));
        await check("the api's replicas are replaced", restart("api", lane.kubectl));
      },
    });
  },
};
