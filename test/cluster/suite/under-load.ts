/** What users notice while something is changed: 10 holders with live sockets, and 20 acquires a second. */
import { pods } from "../../../src/platform/kube/resource-type.ts";
import { type Lane, systemNamespace } from "../lane.ts";
import type { Check } from "../report.ts";
import { fullPool, type Session, type TestPool } from "./pools.ts";
import { acquiresText, startSteadyAcquires } from "./steady-acquires.ts";
import { startSteadySocket } from "./steady-socket.ts";
import { until } from "./until.ts";

const holders = 10;
const perSecond = 20;

/** Browsers for the acquires: each is back after some hundredths of a second, and one at a time is replaced. */
export const spare = 6;

const isGone = async ({ kube }: Lane, name: string): Promise<boolean> =>
  (await kube.get(pods, { namespace: systemNamespace, name })) === undefined;

type LoadedPools = { held: TestPool; busy: TestPool; sessions: Session[] };

/**
 * Does `change` under load and checks that nobody has noticed: no acquire fails, no holder loses its browser. Sockets
 * may be cut, as long as the same URL leads to the same browser again. `after`: with the load gone and the sessions
 * still held.
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
  await using held = await fullPool(lane, `${name}-held`, holders);
  await using busy = await fullPool(lane, `${name}-busy`, spare);
  const sessions: Session[] = [];
  for (let i = 0; i < holders; i++) sessions.push(await held.acquire());
  const sockets = await Promise.all(sessions.map(startSteadySocket));
  const acquires = startSteadyAcquires(lane.stack, { pool: busy.name, perSecond });
  try {
    await change();
    // Replicas that go serve their sockets for a while yet.
    const { items } = await lane.kube.list(pods, { namespace: systemNamespace });
    for (const { metadata } of items.filter((pod) => pod.metadata.deletionTimestamp))
      await until(`${metadata.name} is gone`, () => isGone(lane, metadata.name), { signal: lane.signal });
  } finally {
    const acquired = await acquires.stop();
    const stopped = await Promise.allSettled(sockets.map((socket) => socket.stop()));
    await check(`0 failed of ${perSecond} acquires a second`, async () => {
      if (Object.keys(acquired.failures).length > 0) throw new Error(JSON.stringify(acquired.failures));
      return acquiresText(acquired);
    });
    await check(`0 lost of ${holders} leases with live sockets`, async () => {
      const lost = stopped.flatMap((end) => (end.status === "rejected" ? String(end.reason) : []));
      if (lost.length > 0) throw new Error(lost.join("\n"));
      const histories = stopped.flatMap((end) => (end.status === "fulfilled" ? end.value : []));
      const sum = (of: (one: (typeof histories)[number]) => number): number =>
        histories.reduce((all, one) => all + of(one), 0);
      const longest = Math.max(...histories.map(({ longestGapMs }) => longestGapMs));
      const cuts = sum((one) => one.cuts);
      return `${sum((one) => one.commands)} commands, ${cuts} cuts${cuts > 0 ? `, longest gap ${longest.toFixed(0)} ms` : ""}`;
    });
  }
  await after?.({ held, busy, sessions });
};
