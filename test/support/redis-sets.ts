/**
 * Redis as docs/redis.md sets it up with Sentinel and as a Cluster, on this machine: which servers with which lines.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createClusterArguments, recipePasswords, redisRecipe, userRights } from "./redis-recipes.ts";

const run = promisify(execFile);

/** Starts one server, as `startRedisServer` does: `%port` and `%bus` in its lines become its ports. */
export type StartServer<Server> = (lines: string[], options: { isSentinel: boolean }) => Promise<Server>;

/**
 * `tlsFolder`: holds tls.crt, tls.key and ca.crt for `localhost`; left out, there is no TLS. `password`: of the user
 * `browserpool`, which has the rights of docs/redis.md.
 */
type RedisSetOptions = { tlsFolder?: string; password: string };

/** Waits of the recipes that are shorter here, so that a failover takes no minute. */
const quick = {
  sentinel: ["sentinel down-after-milliseconds browserpool 1000", "sentinel failover-timeout browserpool 3000"],
  server: ["bind 127.0.0.1 -::1", "repl-diskless-sync-delay 0"],
  cluster: ["cluster-node-timeout 1500"],
};

const tlsLines = (tlsFolder: string | undefined): string[] =>
  tlsFolder === undefined ? [] : redisRecipe("redis.conf and sentinel.conf: TLS", { tlsFolder });

const everyServer = ({ tlsFolder, password }: RedisSetOptions): string[] => [
  ...redisRecipe("redis.conf: every server"),
  `user browserpool ${userRights(password).join(" ")}`,
  ...tlsLines(tlsFolder),
  ...quick.server,
];

type SentinelSet<Server> = { master: Server; replicas: Server[]; sentinels: Server[] };

/** A master, two replicas and three Sentinels. Resolves before they all know each other. */
export const startSentinelSet = async <Server extends { port: number }>(
  start: StartServer<Server>,
  options: RedisSetOptions,
): Promise<SentinelSet<Server>> => {
  const server = (masterPort?: number): Promise<Server> => {
    const lines = redisRecipe("redis.conf: with Sentinel", masterPort === undefined ? {} : { masterPort });
    const own = lines.filter((line) => masterPort !== undefined || !line.startsWith("replicaof"));
    return start([...everyServer(options), ...own], { isSentinel: false });
  };
  const master = await server();
  const replicas = await Promise.all([server(master.port), server(master.port)]);
  const watch = [
    "bind 127.0.0.1 -::1",
    ...redisRecipe("sentinel.conf", { masterPort: master.port }),
    ...tlsLines(options.tlsFolder).filter((line) => !line.startsWith("tls-cluster")),
    ...quick.sentinel,
  ];
  const sentinel = (): Promise<Server> => start(watch, { isSentinel: true });
  return { master, replicas, sentinels: await Promise.all([sentinel(), sentinel(), sentinel()]) };
};

/** The form of REDIS_URL for these Sentinels, as the user `browserpool`. */
export const sentinelUrl = (sentinels: { port: number }[], { tlsFolder, password }: RedisSetOptions): string => {
  const hosts = sentinels.map(({ port }) => `localhost:${port}`).join(",");
  const scheme = tlsFolder === undefined ? "redis-sentinel" : "rediss-sentinel";
  const query = `master=browserpool&sentinel_password=${recipePasswords.sentinels}`;
  return `${scheme}://browserpool:${password}@${hosts}/0?${query}`;
};

/** Three masters with a replica each, made by redis-cli. Resolves before all nodes call the cluster well. */
export const startClusterSet = async <Server extends { port: number }>(
  start: StartServer<Server>,
  options: RedisSetOptions & { redisCli: string },
): Promise<Server[]> => {
  const { tlsFolder, redisCli } = options;
  const lines = [
    ...everyServer(options),
    ...redisRecipe("redis.conf: in a Cluster"),
    ...quick.cluster,
    "cluster-port %bus",
  ];
  const servers = await Promise.all(Array.from({ length: 6 }, () => start(lines, { isSentinel: false })));
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  const tls = tlsFolder === undefined ? [] : ["--tls", "--cacert", `${tlsFolder}/ca.crt`];
  await run(redisCli, [...tls, ...createClusterArguments(addresses)], {
    env: { REDISCLI_AUTH: recipePasswords.servers },
    timeout: 30_000,
  });
  return servers;
};

/** The form of REDIS_URL for some of these nodes, as the user `browserpool`. */
export const clusterUrl = (servers: { port: number }[], { tlsFolder, password }: RedisSetOptions): string => {
  const hosts = servers.slice(0, 3).map(({ port }) => `localhost:${port}`);
  const scheme = tlsFolder === undefined ? "redis-cluster" : "rediss-cluster";
  return `${scheme}://browserpool:${password}@${hosts.join(",")}`;
};
