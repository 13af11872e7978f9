import type { Pod } from "../../../src/platform/kube/objects.ts";
import { nodes } from "../../../src/platform/kube/resource-type.ts";
import { type Lane, projectNamespace } from "../lane.ts";
import { Skipped } from "../report.ts";
import { takesNoPods } from "../setup/release.ts";
import type { Session, TestPool } from "./pools.ts";

/** Names of the nodes that take browsers; skips the phase when there are fewer than two. */
export const workers = async ({ kube }: Lane): Promise<string[]> => {
  const { items } = await kube.list(nodes);
  const names = items.filter((node) => !takesNoPods(node)).map(({ metadata }) => metadata.name);
  if (names.length < 2) throw new Skipped("fewer than two nodes take pods");
  return names;
};

/** The pods of a pool that are on a node. */
export const podsOn = async (pool: TestPool, node: string): Promise<Pod[]> =>
  (await pool.pods()).filter(({ spec }) => spec?.nodeName === node);

/** The pod whose browser a session holds: its agent has logged the lease. */
export const podOf = async ({ kubectl }: Lane, pool: TestPool, { session_id }: Session): Promise<Pod> => {
  for (const pod of await pool.pods()) {
    const log = await kubectl("logs", pod.metadata.name, "--namespace", projectNamespace, "--container", "agent");
    if (log.includes(session_id)) return pod;
  }
  throw new Error(`session ${session_id} is in no browser of ${pool.name}`);
};
