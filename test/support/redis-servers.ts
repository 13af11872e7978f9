/** A test's own Redis servers: with a login, with TLS, as a Sentinel, as nodes of a cluster. Loopback only. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Redis } from "ioredis";
import { freePort, startOnFreePort } from "../../src/local/free-port.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../src/local/required-program.ts";
import { StartError } from "../../src/platform/process/supervised-child.ts";
import { accepts } from "./accepts.ts";
import { eventually } from "./eventually.ts";

type Login = { username?: string; password?: string };

export type RedisServer = {
  port: number;
  pid: number;
  /** Kills it and starts it with what its files hold; resolves when it listens. */
  restart(): Promise<void>;
  /** Of its own process. */
  signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
  /** A connection that queues commands until it is open; it is closed with the server. */
  admin(): Redis;
  [Symbol.asyncDispose](): Promise<void>;
};

const anyPort = async (): Promise<number> => {
  const port = await freePort("127.0.0.1");
  if (port === undefined) throw new Error("no free port on 127.0.0.1");
  return port;
};

/** The client that was installed with this server: redis-cli beside redis-server, valkey-cli beside valkey-server. */
export const clientOf = (server: string): string => join(dirname(server), basename(server).replace(/-server$/, "-cli"));

/** The server that the tests run. */
const redisServer = (): string => requiredProgram(locatePrograms(process.env), "redis-server");

/** The name of its processes: redis-server, or valkey-server. */
export const redisServerName = (): string => basename(redisServer());

/** The client of the server that the tests run. */
export const redisCli = (): string => clientOf(redisServer());

/**
 * `config`: lines of redis.conf; `%port` in them becomes the port, `%bus` another free one. `login`: of `admin`. `ca`:
 * `admin` uses TLS.
 */
export const startRedisServer = async (
  config: string[],
  { isSentinel = false, login = {}, ca }: { isSentinel?: boolean; login?: Login; ca?: string } = {},
): Promise<RedisServer> => {
  const folder = await mkdtemp(join(tmpdir(), "redis-"));
  const program = redisServer();
  const file = join(folder, "redis.conf");
  const startProcess = async (port: number) => {
    const child = spawn(program, [file, ...(isSentinel ? ["--sentinel"] : [])], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const exited = once(child, "exit");
    const closed = once(child, "close");
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed = `${printed}${chunk}`.slice(-2000);
    });
    await eventually("redis-server listens", async () => {
      if (child.exitCode !== null) {
        await closed;
        throw new StartError(`redis-server ended with ${child.exitCode}: ${printed}`);
      }
      return accepts(port);
    });
    return { child, exited };
  };
  const started = await startOnFreePort(async (port) => {
    const bus = await anyPort();
    const lines = ["bind 127.0.0.1", "port %port", `dir ${JSON.stringify(folder)}`, ...config];
    const text = lines.join("\n").replaceAll("%port", `${port}`).replaceAll("%bus", `${bus}`);
    await writeFile(file, `${text}\n`, { mode: 0o600 });
    return { port, ...(await startProcess(port)) };
  });
  const { port } = started;
  let { child, exited } = started;
  const connections: Redis[] = [];
  return {
    port,
    pid: child.pid ?? 0,
    async restart() {
      child.kill("SIGKILL");
      await exited;
      ({ child, exited } = await startProcess(port));
    },
    signal: (name) => void child.kill(name),
    admin() {
      const redis = new Redis({ port, host: "localhost", ...login, ...(ca !== undefined && { tls: { ca } }) });
      redis.on("error", () => undefined);
      connections.push(redis);
      return redis;
    },
    async [Symbol.asyncDispose]() {
      for (const redis of connections) redis.disconnect();
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
};
