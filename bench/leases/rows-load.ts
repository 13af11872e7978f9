/** One caller who repeats one kind of call as fast as it is answered, in its own process. */
import type { Job } from "../own-process.ts";
import { createLoadClient, type Target } from "./client.ts";

/** `path`: of a POST that is answered with 204; left out, browsers are acquired and released. */
export type RowsLoad = { target: Target; path?: string; calls: number };

/** Resolves when all calls are over. */
export const run: Job<RowsLoad, undefined> = async ({ target, path, calls }, signal) => {
  const client = createLoadClient(target, 1);
  try {
    for (let made = 0; made < calls && !signal.aborted; made++) {
      if (path === undefined) await client.release(await client.acquire());
      else await client.post(path, {});
    }
    return undefined;
  } finally {
    await client.close();
  }
};
