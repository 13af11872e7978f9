import { randomBytes } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import type { Logger } from "../platform/base/log.ts";
import { superviseChild } from "../platform/process/supervised-child.ts";
import { startOnFreePort } from "./free-port.ts";
import type { Programs } from "./locate-programs.mjs";
import { requiredProgram } from "./required-program.ts";

const answerWithinMs = 1000;

/**
 * True when the Redis on this loopback port accepts the password and answers PING; also false while it loads its data.
 */
export const pingRedis = (port: number, password: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.setTimeout(answerWithinMs, () => socket.destroy());
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(answer === "+OK\r\n+PONG\r\n"));
    socket.on("data", (bytes) => {
      answer += bytes.toString("latin1");
      if (answer.split("\r\n").length > 2) socket.destroy();
    });
    socket.write(`AUTH ${password}\r\nPING\r\n`);
  });

type RedisOptions = {
  /** Absolute; keeps the data across starts. */
  dataDir: string;
  programs: Programs;
  log: Logger;
  /** Aborts the start. */
  signal?: AbortSignal;
};

/** `url` contains the password: never put it into a log or a process argument. */
export type Redis = { url: string; stop(): Promise<void> };

const configOf = (folder: string, port: number, password: string): string =>
  [
    "bind 127.0.0.1",
    `port ${port}`,
    "protected-mode yes",
    `requirepass ${password}`,
    `dir ${JSON.stringify(folder)}`,
    "appendonly yes",
    "appendfsync everysec",
    'save ""',
    "maxmemory-policy noeviction",
    "",
  ].join("\n");

/**
 * Starts a real redis-server on loopback, with a password; resolves when it answers. When it ends by itself, it is
 * started again on the same port and with the same password.
 */
export const startRedis = async ({ dataDir, programs, log, signal }: RedisOptions): Promise<Redis> => {
  const folder = join(dataDir, "redis");
  const configPath = join(dataDir, "run", "redis.conf");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await mkdir(join(dataDir, "run"), { recursive: true, mode: 0o700 });
  const password = randomBytes(32).toString("base64url");
  return startOnFreePort(async (port) => {
    await rm(configPath, { force: true });
    await writeFile(configPath, configOf(folder, port, password), { mode: 0o600 });
    const child = await superviseChild({
      dataDir,
      name: "redis",
      command: [requiredProgram(programs, "redis-server"), configPath],
      env: {},
      cwd: folder,
      logPath: join(dataDir, "logs", "redis.log"),
      log,
      isReady: () => pingRedis(port, password),
      readyWithinMs: 60_000,
      stopGraceMs: 5000,
      signal,
    });
    return { url: `redis://:${password}@127.0.0.1:${port}/0`, stop: child.stop };
  });
};
