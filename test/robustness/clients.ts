/** All callers of one history: each takes turns by its own chance until it is told to stop, and ends its last turn. */
import { setTimeout as sleep } from "node:timers/promises";
import { behaviours, habits } from "./clients/behaviours.ts";
import { createHttp, createServiceCalls } from "./clients/service-calls.ts";
import type { Pools } from "./pools.ts";
import type { Random } from "./random.ts";
import type { Recorder } from "./recorder/recorder.ts";
import type { Topology } from "./topology.ts";

type Clients = {
  /** Resolves when every client has ended its last turn; nobody holds a browser then but those whose client died. */
  stop(): Promise<void>;
};

type ClientsOptions = { count: number; topology: Topology; pools: Pools; random: Random; recorder: Recorder };

/** Between two turns of a client, at most, ms. */
const thinkMs = 25;

export const startClients = ({ count, topology, pools, random, recorder }: ClientsOptions): Clients => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const http = createHttp();

  const live = async (client: string): Promise<void> => {
    const own = random.fork(client);
    const nextUrl = (): string => own.pick(topology.apis).url;
    const calls = createServiceCalls({ client, nextUrl, apiKey: topology.apiKey, http, recorder });
    while (!signal.aborted) {
      const known = pools.list();
      if (known.length > 0) {
        const turn = { calls, pool: own.pick(known), random: own, signal };
        await behaviours[own.weighted(habits)](turn);
      }
      await sleep(own.int(0, thinkMs), undefined, { signal }).catch(() => undefined);
    }
  };
  const living = Promise.all(Array.from({ length: count }, (_, index) => live(`client-${index}`)));
  return {
    async stop() {
      stopping.abort();
      await living;
      await http.destroy();
    },
  };
};
