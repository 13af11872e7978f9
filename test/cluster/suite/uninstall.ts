import { withCdp } from "../../support/raw-cdp.ts";
import { type Phase, projectNamespace, release, systemNamespace, trialsNamespace } from "../lane.ts";
import { deploy, reachableUrl, versionOf } from "../setup/release.ts";
import { beginAnalysis, endedAnalysis, trialPods, trialsLeft, urlOf } from "./analyses.ts";
import { fullPool, type Session } from "./pools.ts";
import { until } from "./until.ts";

const answers = ({ cdp_ws_url }: Session): Promise<boolean> =>
  withCdp(cdp_ws_url, (cdp) => cdp.send("Browser.getVersion")).then(
    () => true,
    () => false,
  );

export const uninstall: Phase = {
  name: "uninstall",
  summary: "helm uninstall keeps pools and their definitions; installed again, the service goes on with them",
  async run(lane, check) {
    const { run, kubectl, kube, images, signal } = lane;
    await using pool = await fullPool(lane, "uninstall", 1);
    const session = await pool.acquire();
    // Nobody knows the name, which takes some trials to find out.
    const analysis = await beginAnalysis(lane, urlOf("nowhere"));
    await until("a trial has begun", async () => (await trialPods(lane)).length > 0, { signal });
    await check("helm uninstall", async () => {
      await run("helm", "uninstall", release, "--namespace", systemNamespace, "--wait", "--timeout", "2m");
    });
    await check("nothing of the release runs on", async () => {
      // The pod of `helm test` has ended; Helm leaves it for its log.
      const running = ["pods", "--field-selector", "status.phase!=Succeeded", "--namespace", systemNamespace];
      const isEmpty = async () => (await kubectl("get", ...running, "--output", "name")) === "";
      await until("no pod is left", isEmpty, { signal, limitMs: 120_000 });
      const cluster = [
        "clusterroles",
        "clusterrolebindings",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
      ];
      const left = await kubectl(
        "get",
        cluster.join(),
        "--selector",
        `app.kubernetes.io/instance=${release}`,
        "--output",
        "name",
      );
      if (left !== "") throw new Error(left);
    });
    await check("pools and browsers are still there", async () => {
      const pools = await kubectl("get", "browserpools", "--namespace", projectNamespace, "--output", "name");
      if (pools === "" || (await pool.pods()).length !== 1) throw new Error(`left: ${pools || "no pool"}`);
    });
    await check("the browser of a trial is still there", async () => {
      if ((await trialsLeft(lane)).length === 0) throw new Error(`${trialsNamespace} is empty`);
    });
    await check("installed again, it takes them over", async () => {
      await deploy(versionOf(images), { kube, run });
      await reachableUrl(kube, signal);
      await until("the lease goes on", () => answers(session), { signal });
      await pool.release(session);
      await pool.whenAvailable(1);
    });
    await check("and ends the analysis that was running", async () => {
      const { outcome } = await endedAnalysis(lane, analysis);
      if (outcome !== "target_not_evaluable") throw new Error(`its outcome: ${outcome}`);
    });
  },
};
