/** The bundled Redis: a real server with the rendered chart's settings and users. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { root } from "../../scripts/generated-file.ts";
import type { Logger } from "../../src/platform/base/log.ts";
import { checkRedis } from "../../src/platform/redis/check-redis.ts";
import { connectRedis, whenReady } from "../../src/platform/redis/connection.ts";
import { silent } from "../support/lease-parts.ts";
import { startRedisServer } from "../support/redis-servers.ts";

type ConfigMap = { kind: string; data: Record<string, string> };

const manifests = await readFile(join(root, "manifests/install.yaml"), "utf8");

/** The users file that the head of the manifests tells users to make, for a password with this SHA-256. */
const usersFile = (hash: string): string => {
  const lines = manifests.match(/^#.*\buser (default off|browserpool on) .*$/gm) ?? [];
  return lines
    .map((line) =>
      line
        .replace(/^.*?user /, "user ")
        .replace(/"(\)| \\)$/, "")
        .replace("$hash", hash),
    )
    .join("\n");
};

const settings = (): string[] => {
  const all = parseAllDocuments(manifests).map((document) => document.toJS() as ConfigMap | null);
  return all.find((object) => object?.data?.["redis.conf"])?.data["redis.conf"]?.split("\n") ?? [];
};

test("the chart's user has the rights that docs/redis.md lists, and no more", async () => {
  const page = await readFile(join(root, "docs/redis.md"), "utf8");
  const rules = /^on >password (.*)$/m.exec(page)?.[1];
  expect(usersFile("0".repeat(64)).split("\n")).toEqual([
    "user default off resetpass resetkeys resetchannels -@all",
    `user browserpool on #${"0".repeat(64)} ${rules}`,
  ]);
});

/** The commands that a text of the service names: calls of its client, or of a script. */
const commandsIn = (text: string): string[] => [
  ...[...text.matchAll(/\bredis\.call\("(\w+)"/g)].map(([, name = ""]) => name),
  ...[...text.matchAll(/\bredis\s*\.([a-z]+)\(/g)].map(([, name = ""]) => name),
];

test("the chart's user may call every command that the service calls", async () => {
  const folder = join(root, "src");
  const files = (await readdir(folder, { recursive: true })).filter((name) => /(\.lua|(?<!\.test)\.ts)$/.test(name));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  const named = new Set(texts.flatMap(commandsIn).map((name) => name.toLowerCase()));
  await using server = await startRedisServer([]);
  const redis = new Redis(server.port, "127.0.0.1");
  try {
    const [, ...rules] = (usersFile("0".repeat(64)).split("\n")[1] ?? "").split(" ");
    await redis.call("ACL", ["SETUSER", ...rules]);
    const refused: string[] = [];
    let known = 0;
    for (const name of named) {
      // What is no command of Redis is a method of the client.
      const [info] = (await redis.call("COMMAND", "INFO", name)) as ([string, number] | null)[];
      if (!info) continue;
      known += 1;
      const values = Array.from({ length: Math.abs(info[1]) - 1 }, () => "bp:1");
      const answer = await redis.call("ACL", ["DRYRUN", "browserpool", name, ...values]).catch(String);
      if (answer !== "OK") refused.push(`${name}: ${answer}`);
    }
    expect(refused).toEqual([]);
    expect(known).toBeGreaterThan(20);
  } finally {
    redis.disconnect();
  }
});

test("the service warns of nothing, and other users can't log in", async () => {
  const folder = await mkdtemp(join(tmpdir(), "browserpool-users-"));
  try {
    const users = join(folder, "users.acl");
    await writeFile(users, `${usersFile("79f076abdd19a752db7267bfff2f9022161d120dea919fdaca2ffdfc24ca8c96")}\n`); // "kept"
    // Settings that name other paths in the pod than on this machine.
    const kept = settings().filter((line) => !/^(bind|port|dir|aclfile) /.test(line));
    await using server = await startRedisServer([...kept, `aclfile ${users}`]);
    const warnings: string[] = [];
    const log = { ...silent, info: () => undefined, warn: (_: object, message: string) => warnings.push(message) };
    const redis = connectRedis(`redis://browserpool:kept@127.0.0.1:${server.port}/0`, silent);
    try {
      await whenReady(redis, 10_000);
      await checkRedis(redis, log as unknown as Logger);
    } finally {
      redis.disconnect();
    }
    expect(warnings).toEqual([]);
    const stranger = new Redis(server.port, "127.0.0.1", { lazyConnect: true, retryStrategy: () => null });
    stranger.on("error", () => undefined); // the call rejects with it too
    await expect(stranger.get("bp:x")).rejects.toThrow("NOAUTH");
    stranger.disconnect();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
