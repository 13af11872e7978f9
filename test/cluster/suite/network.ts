/**
 * What a browser's pod reaches. Probes run in the pod itself, as code that has broken out of a page would. They are
 * done twice: with the policies, and without them, where each must succeed: a probe that could not succeed would prove
 * nothing.
 */
import { withCdp } from "../../support/raw-cdp.ts";
import { type Phase, projectNamespace, systemNamespace } from "../lane.ts";
import { fullPool } from "./pools.ts";
import { expectAll, jsonPath, privateTargets, probe, type Target } from "./probes.ts";
import { type StandIn, standIns } from "./stand-ins.ts";
import { withoutPolicies } from "./without-policies.ts";

const namespaces = [systemNamespace, projectNamespace];

const targetsOf = (all: StandIn[], isPublic: boolean): Target[] =>
  all.filter((one) => one.isPublic === isPublic).map(({ what, host, port }) => ({ what, host, port }));

export const network: Phase = {
  name: "network",
  summary: "what a browser reaches with the NetworkPolicies, and without them",
  async run(lane, check) {
    await using pool = await fullPool(lane, "network", 4);
    await using others = await standIns(lane);
    const [from, ...rest] = await pool.pods();
    if (!from) throw new Error("no browser");
    const secret = [...(await privateTargets(lane, from, rest)), ...targetsOf(others.all, false)];
    const open = targetsOf(others.all, true);
    const dns = {
      what: "cluster DNS",
      host: await jsonPath(lane, "{.spec.clusterIP}", "service", "kube-dns", "--namespace", "kube-system"),
      port: 53,
    };

    await check("no way", async () => expectAll(await probe(lane, from, secret), false));
    await check("allowed", async () => expectAll(await probe(lane, from, [dns, ...open]), true));
    await check("the gateway reaches its agent", async () => {
      const session = await pool.acquire();
      await withCdp(session.cdp_ws_url, (cdp) => cdp.send("Browser.getVersion"));
      await pool.release(session);
    });
    await check("without policies the same probes succeed", () =>
      withoutPolicies(lane, namespaces, async () => expectAll(await probe(lane, from, secret), true)),
    );
    await check("with the policies back there is no way again", async () =>
      expectAll(await probe(lane, from, secret), false),
    );
  },
};
