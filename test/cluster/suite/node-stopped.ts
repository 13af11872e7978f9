import Kernel from "@onkernel/sdk";
import { withCdp } from "../../support/raw-cdp.ts";
import { type Lane, type Phase, systemNamespace } from "../lane.ts";
import { Skipped } from "../report.ts";
import { podOf, podsOn, workers } from "./nodes.ts";
import { fullPool, type Session, type TestPool } from "./pools.ts";
import { restart } from "./restart.ts";
import { systemPod, systemPods } from "./system-pods.ts";
import { until } from "./until.ts";

const size = 4;

/** A connection to a replica that was on the node gets no answer ever; the next one goes to another replica, ms. */
const answerMs = 3000;

/** The node controller waits 40 s until it says that a node is not ready; then browsers are replaced. */
const replacedMs = 300_000;

/**
 * New replicas spread over nodes. A drain may have left all on the node that stops, and nobody would be there to
 * answer.
 */
const spreadReplicas = async (lane: Lane): Promise<void> => {
  for (const component of ["api", "operator"] as const) {
    await restart(lane, component);
    const places = new Set((await systemPods(lane, component)).map(({ spec }) => spec?.nodeName));
    if (places.size < 2) throw new Error(`all replicas of ${component} are on ${[...places]}`);
  }
};

/** A session on a node that may be stopped, and that node. */
const acquireOnSuch = async (lane: Lane, pool: TestPool): Promise<{ session: Session; node: string }> => {
  // The bundled Redis is one pod, and away for as long as its node.
  const forbidden = (await systemPod(lane, "redis"))?.spec?.nodeName;
  const sessions: Session[] = [];
  for (let i = 0; i < size; i++) sessions.push(await pool.acquire());
  const places = await Promise.all(
    sessions.map(async (session) => ({ session, node: (await podOf(lane, pool, session)).spec?.nodeName ?? "" })),
  );
  const chosen = places.find(({ node }) => node !== forbidden);
  if (!chosen) throw new Error(`all browsers are on ${forbidden}, the node of Redis`);
  for (const session of sessions) if (session !== chosen.session) await pool.release(session);
  return chosen;
};

/** What the API says of a session that has ended; undefined while it has not, or while nobody answers. */
const endOf = async ({ session_id }: Session, { stack }: Lane): Promise<string | undefined> => {
  try {
    await stack.kernel.browsers.retrieve(session_id, undefined, { timeout: answerMs, maxRetries: 0 });
    return undefined;
  } catch (error) {
    return error instanceof Kernel.NotFoundError ? error.message : undefined;
  }
};

export const nodeStopped: Phase = {
  name: "node-stopped",
  summary: "a node loses its power: its leases end with a reason, its browsers are replaced",
  async run(lane, check) {
    const { cluster, run, kubectl, signal } = lane;
    if (cluster.kindName === undefined) throw new Skipped("nodes can't be stopped from here");
    await workers(lane);
    await spreadReplicas(lane);
    await using pool = await fullPool(lane, "node-stopped", size);
    const { session, node } = await acquireOnSuch(lane, pool);
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
      const why = await until("the session has ended", () => endOf(session, lane), { signal, limitMs: replacedMs });
      if (!why.includes("has ended (browser_lost)")) throw new Error(why);
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
