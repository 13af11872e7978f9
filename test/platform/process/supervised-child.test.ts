import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startOnFreePort } from "../../../src/local/free-port.ts";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { createLogger } from "../../../src/platform/base/log.ts";
import {
  StartError,
  type SupervisedChild,
  type SupervisedOptions,
  superviseChild,
} from "../../../src/platform/process/supervised-child.ts";
import { eventually } from "../../support/eventually.ts";
import { processesOf } from "../../support/processes.ts";

let dataDir: string;
let logPath: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "browserpool-supervised-"));
  logPath = join(dataDir, "logs/program.log");
});
afterEach(async () => {
  expect(await processesOf(dataDir)).toEqual([]);
  await rm(dataDir, { recursive: true });
});

const supervise = (command: SupervisedOptions["command"], more: Partial<SupervisedOptions> = {}) =>
  superviseChild({
    dataDir,
    name: "program",
    command,
    env: { PATH: process.env.PATH ?? "" },
    cwd: dataDir,
    logPath,
    log: createLogger("silent", "test"),
    isReady: () => Promise.resolve(true),
    readyWithinMs: 20_000,
    stopGraceMs: 1000,
    ...more,
  });
const shell = (script: string): SupervisedOptions["command"] => ["/bin/sh", "-c", script];
const notReady = () => Promise.resolve(false);

test("a program that ends before it is ready fails the start with its exit code, the name of its log and its last lines", async () => {
  const start = supervise(shell("echo no such disk; exit 9"), { isReady: notReady });
  await expect(start).rejects.toThrow(StartError);
  await expect(start).rejects.toThrow(
    /^program ended with exit code 9 before it was ready.*program\.log:\nno such disk$/s,
  );
});

test("a program that is not ready in time fails the start and is ended", async () => {
  const start = supervise(shell("echo working; sleep 60"), { isReady: notReady, readyWithinMs: 300 });
  await expect(start).rejects.toThrow(/was not ready within 0.3 s.*working/s);
});

test("a program that ends by itself is started again, as often as it ends", async () => {
  // Fails by the wait for three starts.
  const program = await supervise(shell("echo started; sleep 0.1"));
  await eventually("three starts", async () => (await readFile(logPath, "utf8")).split("started").length > 3);
  await program.stop();
});

test("a stop during the wait for the next start prevents that start", async () => {
  const program = await supervise(shell("echo started"));
  await eventually("two starts", async () => (await readFile(logPath, "utf8")).split("started").length > 2);
  await program.stop();
  const log = await readFile(logPath, "utf8");
  expect(await processesOf(dataDir)).toEqual([]);
  expect(await readFile(logPath, "utf8")).toBe(log);
});

test("a port that another program has taken meanwhile is replaced by another one", async () => {
  const taker = createServer().listen(0, "127.0.0.1");
  await once(taker, "listening");
  const taken = (taker.address() as AddressInfo).port;
  const redisServer = locatePrograms(process.env)["redis-server"] ?? "";
  const tried: number[] = [];
  const redis = await startOnFreePort((free): Promise<SupervisedChild> => {
    const port = tried.length === 0 ? taken : free;
    tried.push(port);
    const isReady = async () => (await readFile(logPath, "utf8")).includes("Ready to accept connections");
    return supervise([redisServer, "--bind", "127.0.0.1", "--port", `${port}`, "--save", ""], { isReady });
  });
  await redis.stop();
  taker.close();
  expect(tried).toHaveLength(2);
});

test("a start is tried on at most five ports, and only once for any other error", async () => {
  let tries = 0;
  const failing = (message: string) => () => {
    tries++;
    return Promise.reject(new StartError(message));
  };
  await expect(startOnFreePort(failing("bind: address already in use"))).rejects.toThrow("in use");
  expect(tries).toBe(5);
  tries = 0;
  await expect(startOnFreePort(failing("permission denied"))).rejects.toThrow("denied");
  expect(tries).toBe(1);
});
