import type { Fault } from "./fault.ts";

/** A pool is made larger and smaller. */
export const poolResize: Fault = {
  parts: ["pools"],
  lengthMs: [500, 3000],
  async run({ pools, random, hold, begin }) {
    const pool = random.pick(pools.list());
    const sizes = [random.int(1, 14), random.int(2, 12)] as const;
    begin({ pool: pool.uid, sizes });
    await pools.resize(pool, sizes[0]);
    await hold();
    await pools.resize(pool, sizes[1]);
  },
};

/** A pool fills slower, not at all for a while, or faster. */
export const poolRate: Fault = {
  parts: ["pools"],
  lengthMs: [500, 4000],
  async run({ pools, random, hold, begin }) {
    const pool = random.pick(pools.list());
    const rates = [random.pick([0, 300, 6000]), random.pick([1000, 3000, 6000])] as const;
    begin({ pool: pool.uid, rates });
    await pools.changeRate(pool, rates[0]);
    await hold();
    await pools.changeRate(pool, rates[1]);
  },
};

/** A pool gets another configuration; what is idle is discarded, or not. */
export const poolReconfigure: Fault = {
  parts: ["pools"],
  lengthMs: [0, 1000],
  async run({ pools, random, hold, begin }) {
    const pool = random.pick(pools.list());
    begin({ pool: pool.uid });
    await pools.reconfigure(pool, random.chance(0.7), random);
    await hold();
    if (random.chance(0.5)) await pools.reconfigure(pool, true, random);
  },
};

/** What is idle in a pool is destroyed. */
export const poolFlush: Fault = {
  parts: ["pools"],
  lengthMs: [0, 0],
  async run({ pools, random, begin }) {
    const pool = random.pick(pools.list());
    begin({ pool: pool.uid });
    await pools.flush(pool);
  },
};

/** A pool is deleted with everything in it, and another one of the same name takes its place. */
export const poolRecreate: Fault = {
  parts: ["pools"],
  lengthMs: [0, 1500],
  async run({ pools, random, hold, begin }) {
    const pool = random.pick(pools.list());
    begin({ pool: pool.uid });
    await pools.remove(pool);
    await hold();
    await pools.create({ name: pool.name, size: pool.size, fillRatePerMinute: pool.fillRatePerMinute });
  },
};
