import { withCdp } from "../../support/raw-cdp.ts";
import { type Phase, systemNamespace } from "../lane.ts";
import { Skipped } from "../report.ts";
import { podOf, podsOn, workers } from "./nodes.ts";
import { fullPool, type Session } from "./pools.ts";
import { until } from "./until.ts";

const size = 4;

/** The node controller waits 40 s until it says that a node is not ready; then browsers are replaced. */
const replacedMs = 300_000;

export const nodeStopped: Phase = {
  name: "node-stopped",
  summary: "a node loses its power: its leases end with a reason, its browsers are replaced",
  async run(lane, check) {
    const { cluster, run, kubectl, stack, signal } = lane;
    if (cluster.kindName === undefined) throw new Skipped("nodes can't be stopped from here");
    await workers(lane);
    await using pool = await fullPool(lane, "node-stopped", size);
    const session = await pool.acquire();
    const node = (await podOf(lane, pool, session)).spec?.nodeName ?? "";
    const lost = (await podsOn(pool, node)).length;
    await using parts = new AsyncDisposableStack();
    parts.defer(async () => {
      await run("docker", "start", node);
      await kubectl("wait", `node/${node}`, "--for=condition=Ready", "--timeout=180s");
      const all = ["--all", "--namespace", systemNamespace, "--timeout", "300s"];
      await kubectl("wait", "deployment", "--for=condition=Available", ...all);
    });
    await check("the node is stopped", async () => {
      await run("docker", "stop", "-t", "1", node);
      return `${lost} of ${size} browsers were on it`;
    });
    await check("the lease on it ends, and says why", async () => {
      let answer = "";
      const isEnded = async () => {
        const response = await stack.call("GET", `/browsers/${session.session_id}`).catch(() => undefined);
        if (response?.status !== 404) return false;
        answer = await response.text();
        return true;
      };
      await until("the session has ended", isEnded, { signal, limitMs: replacedMs });
      if (!answer.includes("has ended (browser_lost)")) throw new Error(answer);
      return "browser_lost";
    });
    await check("the pool is full again on the other nodes, and its browsers work", async () => {
      await pool.whenAvailable(size, replacedMs);
      const sessions: Session[] = [];
      for (let i = 0; i < size; i++) sessions.push(await pool.acquire());
      for (const one of sessions) {
        await withCdp(one.cdp_ws_url, (cdp) => cdp.send("Browser.getVersion"));
        await pool.release(one);
      }
    });
  },
};
