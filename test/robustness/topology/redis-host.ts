import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster, Redis } from "ioredis";
import type { Recorder } from "../recorder/recorder.ts";
import type { Link } from "./links.ts";
import { type RedisServer, type RedisServerOptions, startRedisProgram } from "./redis-server.ts";
import type { RedisSet } from "./redis-set.ts";

/** One server, a master with replicas and Sentinels (with TLS), or a Cluster of three masters with a replica each. */
export const redisKinds = ["single", "sentinel", "cluster"] as const;
export type RedisKind = (typeof redisKinds)[number];

/** What every kind of Redis has. */
export type RedisHost = {
  /** The run's own connection, past all links, to whichever servers execute commands. */
  client(): Redis | Cluster;
  /** Connections to each of those servers. */
  masters(): Redis[];
  /** The connection to the server that has this key. */
  masterOf(key: string): Promise<Redis>;
  /** Variables by which a replica finds it. `link`: its own, to a single server. */
  env(link: Link): Record<string, string>;
  /** The port that links lead to. */
  linkPort: number;
  /** What only one server is good for. */
  single?: SingleRedis;
  /** What only servers with replicas are good for. */
  set?: RedisSet;
  stop(): Promise<void>;
};

export type SingleRedis = {
  /** The server that all links lead to. */
  current(): RedisServer;
  /** Another server, which copies the present one. */
  startCopy(): Promise<RedisServer>;
  /** The copy becomes the server; the one before must be dead, and its data goes. */
  replaceBy(copy: RedisServer): Promise<void>;
};

export type RedisHostOptions = { folder: string; program: string; logPath: string; recorder: Recorder };

type RedisServers = {
  start(options: Pick<RedisServerOptions, "lines" | "isSentinel" | "connection">): Promise<RedisServer>;
  /** Stops it and removes its data. */
  end(server: RedisServer): Promise<void>;
  stop(): Promise<void>;
};

/** Starts servers with a folder each below that of the options. */
export const redisServersIn = (options: RedisHostOptions): RedisServers => {
  const folders = new Map<RedisServer, string>();
  const end = async (server: RedisServer): Promise<void> => {
    await server.stop();
    await rm(folders.get(server) ?? "", { recursive: true, force: true });
    folders.delete(server);
  };
  return {
    async start(own) {
      const folder = join(options.folder, `redis-${randomBytes(4).toString("hex")}`);
      const server = await startRedisProgram({ ...options, ...own, folder });
      folders.set(server, folder);
      return server;
    },
    end,
    async stop() {
      await Promise.all([...folders.keys()].map(end));
    },
  };
};

/** As the product asks for: an append-only file written every second. */
const configOf = (password: string, replicaOf: number | undefined): string[] => [
  `requirepass ${password}`,
  `masterauth ${password}`,
  "appendonly yes",
  "appendfsync everysec",
  "aof-load-truncated yes",
  'save ""',
  "maxmemory-policy noeviction",
  "repl-diskless-sync-delay 0",
  ...(replicaOf === undefined ? [] : [`replicaof 127.0.0.1 ${replicaOf}`]),
];

/** Starts one server. */
export const startSingleRedis = async (options: RedisHostOptions): Promise<RedisHost & { single: SingleRedis }> => {
  const password = randomBytes(32).toString("base64url");
  const servers = redisServersIn(options);
  const start = (replicaOf?: number): Promise<RedisServer> =>
    servers.start({ lines: configOf(password, replicaOf), connection: { password } });
  let current = await start();
  return {
    client: () => current.client,
    masters: () => [current.client],
    masterOf: async () => current.client,
    env: (link) => ({ REDIS_URL: `redis://:${password}@127.0.0.1:${link.port}/0` }),
    linkPort: current.port,
    single: {
      current: () => current,
      startCopy: () => start(current.port),
      async replaceBy(copy) {
        const old = current;
        current = copy;
        await servers.end(old);
      },
    },
    stop: servers.stop,
  };
};
