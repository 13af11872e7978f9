import { mastersOf, type RedisConnection } from "./connection.ts";

/** Memory of one server. `run`: the server's run id, new with every start. `limitBytes`: 0 without a limit. */
export type MemoryUse = { run: string; usedBytes: number; limitBytes: number };

/** The value of a line of INFO. */
export const infoField = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1];

const bytes = (info: string, name: string): number => Number(infoField(info, name) ?? 0);

/**
 * What Redis compares with its limit, of every server that executes commands. Empty where the user may not call INFO.
 */
export const memoryUse = async (redis: RedisConnection): Promise<MemoryUse[]> => {
  const infos = await Promise.all(mastersOf(redis).map((server) => server.info("server", "memory").catch(() => "")));
  return infos
    .filter((info) => info !== "")
    .map((info) => ({
      run: infoField(info, "run_id") ?? "",
      usedBytes: bytes(info, "used_memory") - bytes(info, "mem_not_counted_for_evict"),
      limitBytes: bytes(info, "maxmemory"),
    }));
};
