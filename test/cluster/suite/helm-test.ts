import { type Phase, release, systemNamespace } from "../lane.ts";

export const helmTest: Phase = {
  name: "helm-test",
  summary: "the chart's own test finds nothing wrong, and uses a browser",
  async run({ run }, check) {
    await check("helm test succeeds", async () => {
      await run("helm", "test", release, "--namespace", systemNamespace, "--timeout", "5m");
    });
  },
};
