/** The three ways to the same Chromium that the section compares. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster } from "../../test/support/cluster.ts";
import { viewLeases } from "../../test/support/lease-view.ts";
import type { PoolClient } from "../../test/support/pool-client.ts";
import { startTwoSplices } from "./splices.ts";

export type Way = "direct" | "splices" | "gateway";

export type Ways = {
  /** CDP WebSocket URLs; each takes many connections. */
  urls: Record<Way, string>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** The address of Chromium's own DevTools server: Chromium writes port and path into its profile. */
const devToolsOf = async (dataDir: string, podUid: string): Promise<{ port: number; path: string }> => {
  const podDir = join(dataDir, "pods", podUid);
  const folder = (await readdir(podDir)).find((name) => name.startsWith("browser-")) ?? "";
  const text = await readFile(join(podDir, folder, "profile", "DevToolsActivePort"), "utf8");
  const [port = "", path = ""] = text.trim().split("\n");
  return { port: Number(port), path };
};

/** Acquires a browser of the pool and opens all three ways to it. Disposing releases the browser. */
export const openWays = async (cluster: Cluster, pool: PoolClient): Promise<Ways> => {
  await using parts = new AsyncDisposableStack();
  const session = await pool.acquire();
  parts.defer(async () => void (await pool.release(session)));
  const leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  const podUid = await leases.podOf(pool.id, session.session_id).finally(() => leases.close());
  const { port, path } = await devToolsOf(cluster.dataDir, podUid);
  const splices = parts.use(await startTwoSplices(port));
  const kept = parts.move();
  return {
    urls: {
      direct: `ws://127.0.0.1:${port}${path}`,
      splices: `ws://127.0.0.1:${splices.port}${path}`,
      gateway: session.cdp_ws_url,
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
