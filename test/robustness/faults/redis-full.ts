import { poolKey } from "../../../src/core/leases/pool-keys.ts";
import type { Fault } from "./fault.ts";

/** Ended leases that are put in: so many bytes that making room for the rest of the history takes some of them. */
const count = 40_000;
const batch = 4000;

/**
 * As the scripts write them (scripts/includes/end-lease.lua), unless the pool is gone. `ARGV`: first and last number,
 * time of the end in ms. Returns how many there are.
 */
const fill = `
  if redis.call("HEXISTS", KEYS[1], "epoch") == 0 then return 0 end
  for n = ARGV[1], ARGV[2] do
    local session, padding = "filler-" .. n, string.rep("x", 300)
    local lease = { browser = "filler", pod = "filler", address = "127.0.0.1:1", config = "filler", epoch = 1, seq = 1, created_at = ARGV[3] + 0,
      ended_at = ARGV[3] + 0, reason = "released", request = padding }
    local text = cjson.encode(lease)
    redis.call("HSET", KEYS[2], session, text)
    redis.call("ZADD", KEYS[3], ARGV[3], session)
    redis.call("HINCRBY", KEYS[1], "ended_bytes", #text + 250)
  end
  return redis.call("ZCARD", KEYS[3])`;

/**
 * Redis is full of the ended leases of one pool, and refuses every write that needs room. The limit stays: the service
 * itself must make room, and keep it.
 */
export const redisFull: Fault = {
  parts: ["redis-server"],
  lengthMs: [2500, 5000],
  async run({ topology, pools, random, hold, begin }) {
    const { uid, name } = random.pick(pools.list());
    const client = await topology.redis.masterOf(poolKey(uid, "pool"));
    const keys = (["pool", "ended", "ended_at"] as const).map((part) => poolKey(uid, part));
    await client.config("SET", "maxmemory", "0");
    const [seconds] = await client.time();
    const endedMs = Number(seconds) * 1000 - 60_000;
    let filled = 0;
    for (let from = 1; from <= count; from += batch)
      filled = Number(await client.eval(fill, keys.length, ...keys, from, from + batch - 1, endedMs));
    const used = Number(/^used_memory:(\d+)/m.exec(await client.info("memory"))?.[1]);
    begin({ pool: name, used, filled });
    // The pool may be gone by now. A limit would then leave nothing that the service could drop.
    if (filled > count / 2) await client.config("SET", "maxmemory", used);
    await hold();
  },
};
