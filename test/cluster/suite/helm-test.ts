import { type Phase, release, systemNamespace } from "../lane.ts";

export const helmTest: Phase = {
  name: "helm-test",
  summary: "the chart's own test acquires, drives and releases a browser",
  async run({ run }, check) {
    await check("helm test succeeds", async () => {
      await run("helm", "test", release, "--namespace", systemNamespace, "--timeout", "5m");
    });
  },
};
