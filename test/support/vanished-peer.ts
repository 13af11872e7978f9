/**
 * The program of test/platform/redis/vanished-peer.slow.test.ts: redis-server and a subscription of the product, and
 * then the network between them goes. Arguments: redis-server, redis-cli, a folder. It runs in a network namespace of
 * its own.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";
import { followChannel } from "../../src/platform/redis/follow-channel.ts";
import { eventually } from "./eventually.ts";
import { redisRecipe } from "./redis-recipes.ts";

const run = promisify(execFile);
const [redisServer = "", redisCli = "", folder = ""] = process.argv.slice(2);
const socket = join(folder, "redis.sock");
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Longer than the keepalive of either side. */
const withinMs = 60_000;

// As in the recipe, but sooner.
const recipe = redisRecipe("redis.conf: every server").find((line) => line.startsWith("tcp-keepalive "));
const keepAlive = ["--tcp-keepalive", String(Number(recipe?.split(" ")[1]) / 20)];
const server = spawn(redisServer, ["--port", "6399", "--unixsocket", socket, "--dir", folder, ...keepAlive], {
  stdio: "ignore",
});
const ask = async (...command: string[]): Promise<string> => (await run(redisCli, ["-s", socket, ...command])).stdout;
const subscribers = async (): Promise<string> => (await ask("PUBSUB", "NUMSUB", "bp:setups")).split("\n")[1] ?? "";

try {
  await eventually("redis-server answers", () =>
    ask("PING").then(
      () => true,
      () => false,
    ),
  );
  const subscriber = connectRedis("redis://127.0.0.1:6399", createLogger("silent", "vanished"));
  try {
    await whenReady(subscriber, 5000);
    await followChannel(subscriber, "bp:setups", () => undefined);
    await eventually("it is subscribed", async () => (await subscribers()) === "1");
    say("subscribed");
    await eventually("both ends have acknowledged everything", async () => {
      const { stdout } = await run("ss", ["-Htn", "state", "established"]);
      return stdout
        .trim()
        .split("\n")
        .every((line) => line.split(/\s+/)[1] === "0");
    });
    let isClosed = false;
    subscriber.once("close", () => {
      isClosed = true;
    });
    await run("ip", ["link", "set", "lo", "down"]);
    await eventually("the client has given it up", () => isClosed, withinMs);
    say("gone: client");
    await eventually("the server has given it up", async () => (await subscribers()) === "0", withinMs);
    say("gone: server");
    await run("ip", ["link", "set", "lo", "up"]);
    await eventually("it is subscribed again", async () => (await subscribers()) === "1");
    say("subscribed again");
  } finally {
    subscriber.disconnect();
  }
} finally {
  const exited = once(server, "exit");
  server.kill("SIGKILL");
  await exited;
}
