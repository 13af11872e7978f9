/**
 * A connection whose other end has vanished without a word: nothing comes back, and nobody closes it. In a network
 * namespace, whose loopback goes down.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../../src/local/required-program.ts";
import { clientOf } from "../../support/redis-servers.ts";

const run = promisify(execFile);

test("an idle subscription is given up by the client, and by the server", { timeout: 150_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "vanished-"));
  try {
    const program = join(import.meta.dirname, "../../support/vanished-peer.ts");
    const redisServer = requiredProgram(locatePrograms(process.env), "redis-server");
    const inside = `ip link set lo up && exec "$@"`;
    const command = [process.execPath, program, redisServer, clientOf(redisServer), folder];
    const { stdout } = await run(
      "unshare",
      ["--user", "--map-root-user", "--net", "sh", "-c", inside, "sh", ...command],
      {
        timeout: 140_000,
      },
    );
    expect(stdout.trim().split("\n")).toEqual(["subscribed", "gone: client", "gone: server", "subscribed again"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
