import { type Fault, singleRedis } from "./fault.ts";

/** The machine of Redis loses power: what was answered within the last second had not reached the disk yet. */
export const redisPowerLoss: Fault = {
  parts: ["redis-server"],
  redis: ["single"],
  lengthMs: [50, 1000],
  async run({ topology, random, hold, pause, begin }) {
    const server = singleRedis(topology).current();
    const bytes = await server.logBytes();
    const lostMs = random.int(100, 1000);
    await pause(lostMs);
    begin({ lostMs });
    await server.kill();
    // A rewrite of the file in between begins a new, shorter one, of which nothing is cut then.
    if ((await server.logBytes()) > bytes) await server.cutLog(bytes);
    await hold();
    await server.restart();
  },
};
