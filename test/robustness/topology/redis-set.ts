/**
 * Servers with replicas that take over by themselves, set up as docs/redis.md says: by Sentinel with TLS, or as a
 * Cluster.
 */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Cluster, Redis } from "ioredis";
import { eventually } from "../../support/eventually.ts";
import { recipePasswords } from "../../support/redis-recipes.ts";
import { clientOf } from "../../support/redis-servers.ts";
import {
  clusterUrl,
  type StartServer,
  sentinelUrl,
  startClusterSet,
  startSentinelSet,
} from "../../support/redis-sets.ts";
import { createTestCa } from "../../support/wall/test-ca.ts";
import { type RedisHost, type RedisHostOptions, redisServersIn } from "./redis-host.ts";
import { patient, type RedisServer } from "./redis-server.ts";

export type RedisSet = {
  /** Those that are masters now and have a replica that is up to date. */
  replaceable(): Promise<RedisServer[]>;
  /** Resolves when a replica of this master has its place; it is dead or stands still. */
  whenReplaced(master: RedisServer): Promise<void>;
  /** Resolves when there are as many masters as there should be, and all other servers copy one. */
  whenWhole(): Promise<void>;
};

/** INFO of a server; "" while it does not answer. */
const replicationOf = ({ client }: RedisServer): Promise<string> =>
  client.status === "ready" ? client.info("replication").catch(() => "") : Promise.resolve("");

const isMaster = (info: string): boolean => info.includes("role:master");
const isUpToDate = (info: string): boolean => isMaster(info) && /^slave\d+:.*state=online/m.test(info);
const isCopy = (info: string): boolean => info.includes("role:slave") && info.includes("master_link_status:up");

/** `servers`: without Sentinels. `mastersCount`: how many of them are masters, as a rule. */
const setOf = (servers: RedisServer[], mastersCount: number): RedisSet => {
  const answers = (): Promise<string[]> => Promise.all(servers.map(replicationOf));
  return {
    async replaceable() {
      const infos = await answers();
      return servers.filter((_, index) => isUpToDate(infos[index] ?? ""));
    },
    whenReplaced: async (master) => {
      const others = servers.filter((server) => server !== master);
      await eventually("a replica has the master's place", async () => {
        const infos = await Promise.all(others.map(replicationOf));
        return infos.filter(isMaster).length >= mastersCount;
      });
    },
    whenWhole: async () => {
      await eventually("every replica copies its master", async () => {
        const infos = await answers();
        const masters = infos.filter(isMaster);
        return (
          masters.length === mastersCount &&
          masters.every(isUpToDate) &&
          infos.every((info) => isMaster(info) || isCopy(info))
        );
      });
    },
  };
};

/** Key and certificate of `localhost`, signed by an authority of this run. */
const makeCertificates = async (folder: string): Promise<string> => {
  await using authority = await createTestCa();
  const { key, cert } = await authority.issue(["localhost"]);
  await mkdir(folder, { mode: 0o700 });
  for (const [name, text] of Object.entries({ "tls.key": key, "tls.crt": cert, "ca.crt": authority.certificate }))
    await writeFile(join(folder, name), text, { mode: 0o600 });
  return authority.certificate;
};

/** A master, two replicas and three Sentinels, with TLS. */
export const startSentinelRedis = async (options: RedisHostOptions): Promise<RedisHost> => {
  const tlsFolder = join(options.folder, "redis-tls");
  const ca = await makeCertificates(tlsFolder);
  const own = { tlsFolder, password: randomBytes(32).toString("base64url") };
  const servers = redisServersIn(options);
  const start: StartServer<RedisServer> = (lines, { isSentinel }) => {
    const password = isSentinel ? recipePasswords.sentinels : recipePasswords.servers;
    return servers.start({ lines, isSentinel, connection: { password, tls: { ca } } });
  };
  const { master, replicas, sentinels } = await startSentinelSet(start, own);
  const set = setOf([master, ...replicas], 1);
  await set.whenWhole();
  await eventually("the Sentinels know each other", async () => {
    const masters = await Promise.all(sentinels.map(({ client }) => client.call("SENTINEL", "MASTERS")));
    return masters.every((answer) => {
      const fields = ((answer as string[][])[0] ?? []).join(" ");
      return fields.includes("num-slaves 2 ") && fields.includes("num-other-sentinels 2 ");
    });
  });
  const client = new Redis({
    ...patient,
    sentinels: sentinels.map(({ port }) => ({ host: "localhost", port })),
    name: "browserpool",
    password: recipePasswords.servers,
    sentinelPassword: recipePasswords.sentinels,
    sentinelRetryStrategy: () => 50,
    failoverDetector: true,
    tls: { ca },
    sentinelTLS: { ca },
    enableTLSForSentinelMode: true,
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
  client.on("error", () => undefined);
  // As the product does (src/platform/redis/connection.ts).
  let isStopped = false;
  client.on("end", () => {
    if (!isStopped) client.connect().catch(() => undefined);
  });
  const env = { REDIS_URL: sentinelUrl(sentinels, own), NODE_EXTRA_CA_CERTS: join(tlsFolder, "ca.crt") };
  return {
    client: () => client,
    masters: () => [client],
    masterOf: async () => client,
    env: () => env,
    linkPort: master.port,
    set,
    async stop() {
      isStopped = true;
      client.disconnect();
      await servers.stop();
    },
  };
};

/** Three masters with a replica each. */
export const startClusterRedis = async (options: RedisHostOptions): Promise<RedisHost> => {
  const own = { password: randomBytes(32).toString("base64url") };
  const servers = redisServersIn(options);
  const start: StartServer<RedisServer> = (lines) =>
    servers.start({ lines, connection: { password: recipePasswords.servers } });
  const nodes = await startClusterSet(start, { ...own, redisCli: clientOf(options.program) });
  const set = setOf(nodes, 3);
  await set.whenWhole();
  const client = new Cluster(
    nodes.map(({ port }) => ({ host: "localhost", port })),
    {
      redisOptions: { ...patient, password: recipePasswords.servers },
      dnsLookup: (name, done) => done(null, name),
      clusterRetryStrategy: () => 50,
      slotsRefreshInterval: 500,
    },
  );
  client.on("error", () => undefined);
  await eventually("the cluster takes commands", () => client.status === "ready");
  const masters = (): Redis[] => client.nodes("master");
  return {
    client: () => client,
    masters,
    async masterOf(key) {
      const slot = await client.cluster("KEYSLOT", key);
      const [owner = ""] = client.slots[Number(slot)] ?? [];
      const found = masters().find(({ options: { host, port } }) => `${host}:${port}` === owner);
      if (!found) throw new Error(`no server has the slot ${slot}`);
      return found;
    },
    env: () => ({ REDIS_URL: clusterUrl(nodes, own) }),
    linkPort: nodes[0]?.port ?? 0,
    set,
    async stop() {
      client.disconnect();
      await servers.stop();
    },
  };
};
