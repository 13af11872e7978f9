/** What users notice while something is changed: 10 scripts of Playwright, and 20 acquires a second. */
import { setTimeout as sleep } from "node:timers/promises";
import { pods } from "../../../src/platform/kube/resource-type.ts";
import { type Lane, systemNamespace } from "../lane.ts";
import type { Check } from "../report.ts";
import { fullPool, type Session, type TestPool } from "./pools.ts";
import { acquiresText, startSteadyAcquires } from "./steady-acquires.ts";
import { startSteadyScript } from "./steady-script.ts";
import { until } from "./until.ts";

const scripts = 10;
const perSecond = 20;

/** Browsers for the acquires: each is back after some hundredths of a second, and one at a time is replaced. */
export const spare = 6;

/** Replicas that stop have closed their last connections, and end. */
const endedMs = 60_000;

const isGone = async ({ kube }: Lane, name: string): Promise<boolean> =>
  (await kube.get(pods, { namespace: systemNamespace, name })) === undefined;

/** Resolves with the number of pods that served their sockets until now and end. */
const whenStoppedAreGone = async (lane: Lane): Promise<number> => {
  const { items } = await lane.kube.list(pods, { namespace: systemNamespace });
  const stopping = items.filter((pod) => pod.metadata.deletionTimestamp);
  for (const { metadata } of stopping)
    await until(`${metadata.name} is gone`, () => isGone(lane, metadata.name), {
      signal: lane.signal,
      limitMs: endedMs,
    });
  return stopping.length;
};

type LoadedPools = { held: TestPool; busy: TestPool; sessions: Session[] };

/**
 * Does `change` under load, for the time that scripts last, and checks that nobody has noticed: no acquire and no script
 * fails. `after`: with the load gone and the sessions still held.
 */
export const underLoad = async (
  lane: Lane,
  check: Check,
  {
    name,
    change,
    after,
  }: { name: string; change: () => Promise<unknown>; after?: (pools: LoadedPools) => Promise<unknown> },
): Promise<void> => {
  await using held = await fullPool(lane, `${name}-held`, scripts);
  await using busy = await fullPool(lane, `${name}-busy`, spare);
  const sessions: Session[] = [];
  for (let i = 0; i < scripts; i++) sessions.push(await held.acquire());
  const beganMs = performance.now();
  const running = await Promise.all(sessions.map(startSteadyScript));
  const acquires = startSteadyAcquires(lane.stack, { pool: busy.name, perSecond });
  try {
    await change();
    const leftMs = beganMs + lane.scriptSeconds * 1000 - performance.now();
    await sleep(Math.max(0, leftMs), undefined, { signal: lane.signal });
  } finally {
    const acquired = await acquires.stop();
    const stopped = await Promise.allSettled(running.map((script) => script.stop()));
    const lasted = Math.round((performance.now() - beganMs) / 1000);
    await check(`0 failed of ${perSecond} acquires a second`, async () => {
      if (Object.keys(acquired.failures).length > 0) throw new Error(JSON.stringify(acquired.failures));
      return acquiresText(acquired);
    });
    await check(`0 failed of ${scripts} scripts`, async () => {
      const failed = stopped.flatMap((end) => (end.status === "rejected" ? String(end.reason) : []));
      if (failed.length > 0) throw new Error(failed.join("\n"));
      const steps = stopped.reduce((all, end) => all + (end.status === "fulfilled" ? end.value : 0), 0);
      return `${steps} steps in ${lasted} s, each script over one socket`;
    });
    await check(
      "replicas that served them end with the last",
      async () => `${await whenStoppedAreGone(lane)} replicas`,
    );
  }
  await after?.({ held, busy, sessions });
};
