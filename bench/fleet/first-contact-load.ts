/**
 * The load of the stage "first contact", in its own process: it holds what it takes of the fleet, so that no browser
 * comes twice.
 */

import { createLoadClient, type LoadClient, type Session, type Target } from "../leases/client.ts";
import type { Job } from "../own-process.ts";

export type FirstContactLoad = { warm: Target; pools: Target[]; perPool: number };
export type FirstContactTimes = { first: number[]; warm: number[] };

const warmUps = 200;

const timed = async (client: LoadClient, times: number[]): Promise<Session> => {
  const beganMs = performance.now();
  const session = await client.acquire();
  times.push(performance.now() - beganMs);
  return session;
};

export const run: Job<FirstContactLoad, FirstContactTimes> = async ({ warm, pools, perPool }, signal) => {
  const known = createLoadClient(warm, 1);
  const clients = pools.map((pool) => createLoadClient(pool, 1));
  const times: FirstContactTimes = { first: [], warm: [] };
  const held: { client: LoadClient; session: Session }[] = [];
  try {
    // The clients' own connections are there before.
    for (const client of clients) await client.connect(1);
    for (let index = 0; index < warmUps; index++) await known.release(await known.acquire());
    for (let round = 0; round < perPool; round++)
      for (const client of clients) {
        signal.throwIfAborted();
        held.push({ client, session: await timed(client, times.first) });
        await known.release(await timed(known, times.warm));
      }
    for (const { client, session } of held) await client.release(session);
    return times;
  } finally {
    await Promise.all([known, ...clients].map((client) => client.close()));
  }
};
