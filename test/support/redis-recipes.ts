import { readFileSync } from "node:fs";
import { docExamples } from "./doc-examples.ts";

const blocks = docExamples("redis.md", "ini").map((text) => text.trimEnd().split("\n"));

/** The password of the default user, and that of the Sentinels, in the recipes of docs/redis.md. */
export const recipePasswords = { servers: "secret", sentinels: "watch" };

/** The name under which recipes know a machine. */
const machine = /redis-\d\.example/g;

type RecipeValues = {
  /** Of the first master, for `replicaof` and `sentinel monitor`. */
  masterPort?: number;
  /** Holds the certificates. */
  tlsFolder?: string;
};

/**
 * The lines of docs/redis.md under this title, for servers on `localhost`. `%port` stands for the port of the server
 * whose file it is, as in `startRedisServer`.
 */
export const redisRecipe = (title: string, { masterPort, tlsFolder = "" }: RecipeValues = {}): string[] => {
  const block = blocks.find(([first]) => first === `# ${title}`);
  if (!block) throw new Error(`docs/redis.md has no block ${title}`);
  return block.slice(1).map((line) =>
    line
      .replace(/^(replicaof|sentinel monitor browserpool) redis-0\.example 6379/, `$1 localhost ${masterPort}`)
      .replaceAll(machine, "localhost")
      .replace(/^((?:tls-)?port|replica-announce-port|sentinel announce-port) \d{4,5}$/, "$1 %port")
      .replace("/etc/redis/tls", tlsFolder),
  );
};

/** The shell commands of docs/redis.md that make a Cluster, as arguments of redis-cli, for these addresses. */
export const createClusterArguments = (addresses: string[]): string[] => {
  const [program, ...args] = (docExamples("redis.md", "sh")[0] ?? "").trim().split(/\s+/);
  if (program !== "redis-cli") throw new Error("docs/redis.md makes no Cluster");
  const isAddress = (text: string): boolean => /^[\d.]+:\d+$/.test(text);
  const first = args.findIndex(isAddress);
  if (args.filter(isAddress).length !== addresses.length) throw new Error("the recipe has another number of servers");
  return [...args.slice(0, first), ...addresses, ...args.slice(first + addresses.length)];
};

/** The rights of docs/redis.md for a user with this password, as words of ACL SETUSER. */
export const userRights = (password: string): string[] => {
  const page = readFileSync(new URL("../../docs/redis.md", import.meta.url), "utf8");
  const line = /^on >password .*$/m.exec(page)?.[0];
  if (line === undefined) throw new Error("docs/redis.md has no rights of a user");
  return line.replace(">password", `>${password}`).split(" ");
};
