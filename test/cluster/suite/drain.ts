import { withCdp } from "../../support/raw-cdp.ts";
import type { Phase } from "../lane.ts";
import { Skipped } from "../report.ts";
import { podOf, podsOn, workers } from "./nodes.ts";
import { fullPool } from "./pools.ts";
import { startSteadyScript } from "./steady-script.ts";
import { until } from "./until.ts";

const size = 6;

/** Idle browsers go at once, and their replacements have to start. */
const movedMs = 120_000;

/**
 * From the end of the lease to that of the command: the agent ends, the kubelet tells, the next look of kubectl finds
 * nothing.
 */
const drainedMs = 120_000;

export const drain: Phase = {
  name: "drain",
  summary: "kubectl drain: idle browsers move at once, a leased one when its lease ends",
  async run(lane, check) {
    const { cluster, kubectl, signal } = lane;
    if (cluster.kindName === undefined) throw new Skipped("the cluster's nodes may have other work");
    await workers(lane);
    await using pool = await fullPool(lane, "drain", size);
    const session = await pool.acquire();
    const leased = await podOf(lane, pool, session);
    const node = leased.spec?.nodeName ?? "";
    await using stack = new AsyncDisposableStack();
    stack.defer(async () => void (await kubectl("uncordon", node)));
    const idleBefore = (await podsOn(pool, node)).length - 1;
    const script = await startSteadyScript(session);
    const drained = kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout", "10m");
    drained.catch(() => undefined); // told below
    let isDrained = false;
    void drained.then(() => {
      isDrained = true;
    });

    await check("idle browsers leave the node and are replaced elsewhere", async () => {
      const others = async () => {
        const left = await podsOn(pool, node);
        return left.every(({ metadata }) => metadata.name === leased.metadata.name);
      };
      await until("only the leased browser is left there", others, { signal, limitMs: movedMs });
      await pool.whenAvailable(size - 1, movedMs);
      return `${idleBefore} moved`;
    });
    await check("what is handed out meanwhile is not on that node", async () => {
      const sessions = [];
      for (let i = 1; i < size; i++) sessions.push(await pool.acquire());
      for (const one of sessions) {
        await withCdp(one.cdp_ws_url, (cdp) => cdp.send("Browser.getVersion"));
        if ((await podOf(lane, pool, one)).spec?.nodeName === node) throw new Error("on the node that is drained");
        await pool.release(one);
      }
    });
    await check("the leased browser serves on, and holds up the drain", async () => {
      const steps = await script.stop();
      if (isDrained) throw new Error("the node was drained while a lease was on it");
      return `${steps} steps of its script`;
    });
    await check("with the lease ended the drain comes to its end", async () => {
      await pool.release(session);
      await Promise.race([
        drained,
        until("the node is drained", async () => isDrained, { signal, limitMs: drainedMs }),
      ]);
    });
    await check("the node takes browsers again after kubectl uncordon", async () => {
      await kubectl("uncordon", node);
      await pool.whenAvailable(size, movedMs);
    });
  },
};
