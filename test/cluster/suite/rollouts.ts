import { pods } from "../../../src/platform/kube/resource-type.ts";
import { type Lane, type Phase, systemNamespace } from "../lane.ts";
import { workers } from "./nodes.ts";
import { restart, whenRolledOut } from "./restart.ts";
import { underLoad } from "./under-load.ts";
import { until } from "./until.ts";

const ofSystem = (component: string) => ({
  namespace: systemNamespace,
  labelSelector: `app.kubernetes.io/component=${component}`,
});

/** A node with a replica of the API, and without the Redis of the chart, whose restart every caller notices. */
const nodeWithReplica = async (lane: Lane): Promise<string> => {
  const nodesOf = async (component: string): Promise<string[]> =>
    (await lane.kube.list(pods, ofSystem(component))).items
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(({ spec }) => spec?.nodeName ?? "");
  const [withApi, withRedis, all] = await Promise.all([nodesOf("api"), nodesOf("redis"), workers(lane)]);
  const node = all.find((name) => withApi.includes(name) && !withRedis.includes(name));
  if (node === undefined) throw new Error("no node has a replica of the api and no redis");
  return node;
};

/** As an autoscaler does it. */
const scale = async (lane: Lane, replicas: number): Promise<void> => {
  await lane.kubectl("scale", "deployment/browserpool-api", "--namespace", systemNamespace, `--replicas=${replicas}`);
  await whenRolledOut(lane, "api");
};

export const rollouts: Phase = {
  name: "rollouts",
  summary: "restarts of operator and api, a scale-down and a drain of a replica's node under load",
  async run(lane, check) {
    const { kubectl, signal } = lane;
    await using stack = new AsyncDisposableStack();
    let drained: Promise<unknown> | undefined;
    await underLoad(lane, check, {
      name: "rollouts",
      async change() {
        await check("the operator's replicas are replaced", () => restart(lane, "operator"));
        await check("the api's replicas are replaced", () => restart(lane, "api"));
        await check("the api's replicas become fewer, and more again", async () => {
          await scale(lane, 1);
          await scale(lane, 2);
        });
        await check("a node with a replica of the api is drained", async () => {
          const node = await nodeWithReplica(lane);
          stack.defer(async () => void (await kubectl("uncordon", node)));
          drained = kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout", "20m");
          drained.catch(() => undefined); // told below
          const isLeaving = async (): Promise<boolean> => {
            const { items } = await lane.kube.list(pods, ofSystem("api"));
            return items.some(
              ({ metadata, spec }) => spec?.nodeName === node && metadata.deletionTimestamp !== undefined,
            );
          };
          await until("its replica stops", isLeaving, { signal, limitMs: 120_000 });
          await whenRolledOut(lane, "api");
        });
      },
      after: ({ held, sessions }) =>
        check("the drain comes to its end when the sessions have ended", async () => {
          for (const session of sessions) await held.release(session);
          await drained;
        }),
    });
  },
};
