import type { Phase } from "../lane.ts";
import { restart } from "./restart.ts";
import { underLoad } from "./under-load.ts";

export const rollouts: Phase = {
  name: "rollouts",
  summary: "restarts of operator and api under load",
  async run(lane, check) {
    await underLoad(lane, check, {
      name: "rollouts",
      async change() {
        await check("the operator's replicas are replaced", () => restart(lane, "operator"));
        await check("the api's replicas are replaced", () => restart(lane, "api"));
      },
    });
  },
};
