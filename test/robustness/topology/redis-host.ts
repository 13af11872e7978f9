import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Recorder } from "../recorder/recorder.ts";
import { type RedisServer, startRedisServer } from "./redis-server.ts";

export type RedisHost = {
  /** Of all servers; in no log and no argument. */
  password: string;
  /** The server that all links lead to. */
  current(): RedisServer;
  /** Another server, which copies the present one. */
  startCopy(): Promise<RedisServer>;
  /** The copy becomes the server; the one before must be dead, and its data goes. */
  replaceBy(copy: RedisServer): Promise<void>;
  stop(): Promise<void>;
};

export type RedisHostOptions = { folder: string; program: string; logPath: string; recorder: Recorder };

/** Starts the first server. */
export const startRedisHost = async (options: RedisHostOptions): Promise<RedisHost> => {
  const password = randomBytes(32).toString("base64url");
  const folders = new Map<RedisServer, string>();
  const start = async (replicaOf?: number): Promise<RedisServer> => {
    const folder = join(options.folder, `redis-${randomBytes(4).toString("hex")}`);
    const server = await startRedisServer({
      ...options,
      folder,
      password,
      ...(replicaOf !== undefined && { replicaOf }),
    });
    folders.set(server, folder);
    return server;
  };
  const end = async (server: RedisServer): Promise<void> => {
    await server.stop();
    await rm(folders.get(server) ?? "", { recursive: true, force: true });
    folders.delete(server);
  };
  let current = await start();
  return {
    password,
    current: () => current,
    startCopy: () => start(current.port),
    async replaceBy(copy) {
      const old = current;
      current = copy;
      await end(old);
    },
    async stop() {
      await Promise.all([...folders.keys()].map(end));
    },
  };
};
