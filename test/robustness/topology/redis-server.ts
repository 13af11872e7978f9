import { mkdir, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis, type RedisOptions } from "ioredis";
import { freePort } from "../../../src/local/free-port.ts";
import { eventually } from "../../support/eventually.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { type Program, startProgram } from "./program.ts";

export type RedisServerOptions = {
  /** For data and configuration; made anew. */
  folder: string;
  program: string;
  /** Of its configuration; `%port` in them becomes its port, `%bus` another free one. */
  lines: string[];
  isSentinel?: boolean;
  /** How the run's own connection logs in, and what certificates it trusts. */
  connection: Pick<RedisOptions, "password" | "tls">;
  logPath: string;
  recorder: Recorder;
};

/** One redis-server, or a Sentinel. */
export type RedisServer = {
  port: number;
  /**
   * A connection of the run's own, past all links. A command waits some seconds for a server that is down, and then
   * fails.
   */
  client: Redis;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
  /** Starts it again with what its files hold; resolves when it answers. */
  restart(): Promise<void>;
  /** Makes a copy a server of its own, for all its further starts too. */
  promote(): Promise<void>;
  /** Size of the newest append-only file, bytes. */
  logBytes(): Promise<number>;
  /** Cuts the append-only file, as a power failure does; the server must be dead. */
  cutLog(bytes: number): Promise<void>;
  stop(): Promise<void>;
};

/** How the run's own connections cope with servers that come and go. */
export const patient = {
  maxRetriesPerRequest: null,
  autoResendUnfulfilledCommands: false,
  commandTimeout: 10_000,
  retryStrategy: () => 50,
} satisfies RedisOptions;

const anyPort = async (): Promise<number> => {
  const port = await freePort("127.0.0.1");
  if (port === undefined) throw new Error("no free port on 127.0.0.1");
  return port;
};

/** Resolves when it answers. */
export const startRedisProgram = async (options: RedisServerOptions): Promise<RedisServer> => {
  const { folder, recorder, logPath, isSentinel = false } = options;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [port, bus] = [await anyPort(), await anyPort()];
  const configPath = join(folder, "redis.conf");
  // It holds passwords, which stand in no argument.
  const text = ["bind 127.0.0.1", "port %port", `dir ${JSON.stringify(folder)}`, ...options.lines, ""].join("\n");
  await writeFile(configPath, text.replaceAll("%port", `${port}`).replaceAll("%bus", `${bus}`), { mode: 0o600 });

  const client = new Redis({ host: "localhost", port, ...options.connection, ...patient });
  client.on("error", () => undefined);
  const start = async (): Promise<Program> => {
    const program = await startProgram({
      role: "redis",
      name: "redis",
      command: [options.program, configPath, ...(isSentinel ? ["--sentinel"] : [])],
      env: {},
      cwd: folder,
      logPath,
      recorder,
    });
    await eventually("redis-server answers", () =>
      client.ping().then(
        () => true,
        () => false,
      ),
    );
    return program;
  };
  let program = await start();

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
    freeze: () => program.freeze(),
    thaw: () => program.thaw(),
    async restart() {
      program = await start();
    },
    async promote() {
      await client.replicaof("NO", "ONE");
      await client.config("REWRITE");
    },
    logBytes: async () => (await stat(await newestLog())).size,
    cutLog: async (bytes) => truncate(await newestLog(), bytes),
    async stop() {
      client.disconnect();
      await program.stop(5000);
    },
  };
};
