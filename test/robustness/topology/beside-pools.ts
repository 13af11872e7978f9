/**
 * Pools of another project that nobody uses, played by a simulated node of their own. Every fault of the control plane,
 * the operators and Redis hits them too, and all of them must be known and idle whenever a history has come to rest.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { startNodeProcess } from "../../support/simulated-node/node-process.ts";

export type BesidePools = {
  /** What is not at rest; empty: all browsers are idle. Throws while the API can't tell. */
  findUnrest(): Promise<string[]>;
  stop(): Promise<void>;
};

type BesidePoolsOptions = {
  /** Browsers in all. */
  count: number;
  /** Of an api replica. */
  url: string;
  apiKey: string;
  kubeconfigPath: string;
  logPath: string;
};

const poolSize = 50;
const fillWithinMs = 20 * 60_000;
const requestMs = 10_000;
const retryMs = 500;

const Pools = z.array(z.object({ id: z.string(), available_count: z.int(), acquired_count: z.int() }));

/** Resolves when all of them are idle. A page of a list has 100 pools, so there are no more. */
export const startBesidePools = async (options: BesidePoolsOptions): Promise<BesidePools> => {
  const { count, url, apiKey, kubeconfigPath, logPath } = options;
  const send = async (method: string, path: string, { project, body }: { project?: string; body?: object } = {}) => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(project !== undefined && { "x-kernel-project-id": project }),
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestMs),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
    return JSON.parse(text) as unknown;
  };
  const deadline = AbortSignal.timeout(fillWithinMs);
  const { id: project } = z
    .object({ id: z.string() })
    .parse(await send("POST", "/org/projects", { body: { name: "beside" } }));
  const node = await startNodeProcess({ kubeconfigPath, namespace: project, nodeName: "beside" }, { logPath });
  const wanted = Math.ceil(count / poolSize);
  const findUnrest = async (): Promise<string[]> => {
    const pools = Pools.parse(await send("GET", `/browser_pools?limit=${wanted}`, { project }));
    const restless = pools.filter(({ available_count }) => available_count !== poolSize);
    return [
      ...(pools.length === wanted ? [] : [`${pools.length} of ${wanted} pools beside are there`]),
      ...restless.map(({ id, available_count: idle }) => `pool ${id} beside has ${idle} of ${poolSize} browsers idle`),
    ];
  };
  try {
    for (let made = 0; made < wanted; made++) {
      const body = { name: `beside-${made}`, size: poolSize, headless: true, fill_rate_per_minute: 6000 };
      await send("POST", "/browser_pools", { project, body });
    }
    while ((await findUnrest().catch(() => ["unknown"])).length > 0)
      await sleep(retryMs, undefined, { signal: deadline });
  } catch (error) {
    await node.stop();
    throw error;
  }
  return { findUnrest, stop: node.stop };
};
