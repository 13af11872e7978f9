import { mkdir, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "../../../src/local/free-port.ts";
import { pingRedis } from "../../../src/local/ping-redis.ts";
import { eventually } from "../../support/eventually.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { type Program, startProgram } from "./program.ts";

export type RedisServerOptions = {
  /** For data and configuration; made anew. */
  folder: string;
  program: string;
  password: string;
  logPath: string;
  /** Port of the server that it copies, if any. */
  replicaOf?: number;
  recorder: Recorder;
};

/** One redis-server that keeps its data in an append-only file written every second, as the product asks for. */
export type RedisServer = {
  port: number;
  /** A connection of the run's own, past all links. A command waits some seconds for a server that is down, and then fails. */
  client: Redis;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again with what its file holds; resolves when it answers. */
  restart(): Promise<void>;
  /** Makes a copy a server of its own, for all its further starts too. */
  promote(): Promise<void>;
  /** Size of the newest append-only file, bytes. */
  logBytes(): Promise<number>;
  /** Cuts the append-only file, as a power failure does; the server must be dead. */
  cutLog(bytes: number): Promise<void>;
  stop(): Promise<void>;
};

const configOf = (port: number, { folder, password, replicaOf }: RedisServerOptions): string =>
  [
    "bind 127.0.0.1",
    `port ${port}`,
    `requirepass ${password}`,
    `masterauth ${password}`,
    `dir ${JSON.stringify(folder)}`,
    "appendonly yes",
    "appendfsync everysec",
    "aof-load-truncated yes",
    'save ""',
    "maxmemory-policy noeviction",
    "repl-diskless-sync-delay 0",
    ...(replicaOf === undefined ? [] : [`replicaof 127.0.0.1 ${replicaOf}`]),
    "",
  ].join("\n");

/** Resolves when it answers. `url` of its client holds a password; it stands in no argument. */
export const startRedisServer = async (options: RedisServerOptions): Promise<RedisServer> => {
  const { folder, password, recorder, logPath } = options;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const port = await freePort("127.0.0.1");
  if (port === undefined) throw new Error("no free port on 127.0.0.1");
  const configPath = join(folder, "redis.conf");
  await writeFile(configPath, configOf(port, options), { mode: 0o600 });

  const start = async (): Promise<Program> => {
    const command = [options.program, configPath] as const;
    const program = await startProgram({
      role: "redis",
      name: "redis",
      command,
      env: {},
      cwd: folder,
      logPath,
      recorder,
    });
    await eventually("redis-server answers", () => pingRedis(port, password));
    return program;
  };
  let program = await start();
  const client = new Redis({
    host: "127.0.0.1",
    port,
    password,
    maxRetriesPerRequest: null,
    autoResendUnfulfilledCommands: false,
    commandTimeout: 10_000,
    retryStrategy: () => 50,
  });
  client.on("error", () => undefined);

  const newestLog = async (): Promise<string> => {
    const files = await readdir(join(folder, "appendonlydir"));
    const number = (file: string): number => Number(/\.(\d+)\.incr\.aof$/.exec(file)?.[1] ?? -1);
    const [newest = ""] = files.sort((a, b) => number(b) - number(a));
    return join(folder, "appendonlydir", newest);
  };
  return {
    port,
    client,
    async kill() {
      program.kill("SIGKILL");
      await program.exited;
    },
    async restart() {
      program = await start();
    },
    async promote() {
      const { replicaOf: _, ...alone } = options;
      await writeFile(configPath, configOf(port, alone), { mode: 0o600 });
      await client.replicaof("NO", "ONE");
    },
    logBytes: async () => (await stat(await newestLog())).size,
    cutLog: async (bytes) => truncate(await newestLog(), bytes),
    async stop() {
      client.disconnect();
      await program.stop(5000);
    },
  };
};
