/** Parses `REDIS_URL`: where Redis is and how to log in to it (docs/redis.md). */
import { bareHost } from "../base/host-port.ts";

type Login = { username?: string; password?: string };
type Address = { host: string; port: number };

export type RedisAddress = {
  kind: "single" | "sentinel" | "cluster";
  /** One server, or the Sentinels or cluster nodes to ask first. */
  nodes: Address[];
  isTls: boolean;
  login: Login;
  /** Number of the database; 0 in a cluster. */
  db: number;
  /** Only with Sentinel. */
  master?: { name: string; sentinelLogin: Login };
};

const schemes: Record<string, Pick<RedisAddress, "kind" | "isTls">> = {
  redis: { kind: "single", isTls: false },
  rediss: { kind: "single", isTls: true },
  "redis-sentinel": { kind: "sentinel", isTls: false },
  "rediss-sentinel": { kind: "sentinel", isTls: true },
  "redis-cluster": { kind: "cluster", isTls: false },
  "rediss-cluster": { kind: "cluster", isTls: true },
};

const forms = {
  single: "redis[s]://[[user]:password@]host[:port][/db]",
  sentinel: "redis[s]-sentinel://[[user]:password@]host[:port][,host[:port]…][/db]?master=name",
  cluster: "redis[s]-cluster://[[user]:password@]host[:port][,host[:port]…]",
};

const defaultPort = { single: 6379, sentinel: 26379, cluster: 6379 };

/** The message names the problem and the expected form. It never repeats the URL, which may hold a password. */
const malformed = (problem: string, kind?: RedisAddress["kind"]): Error => {
  const expected = kind ? forms[kind] : Object.values(forms).join(", or ");
  return new Error(`REDIS_URL: ${problem}; expected ${expected}, special characters of user and password as %XX`);
};

const decode = (text: string | undefined, kind: RedisAddress["kind"]): string | undefined => {
  try {
    return text ? decodeURIComponent(text) : undefined;
  } catch {
    throw malformed("user or password has a % that encodes no character", kind);
  }
};

const loginOf = (user: string | undefined, secret: string | undefined, kind: RedisAddress["kind"]): Login => {
  const [username, password] = [decode(user, kind), decode(secret, kind)];
  if (username && !password) throw malformed("there is a user and no password", kind);
  return { ...(username && { username }), ...(password && { password }) };
};

const addressOf = (text: string, kind: RedisAddress["kind"]): Address => {
  const { host = "", port } = /^(?<host>\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::(?<port>\d{1,5}))?$/.exec(text)?.groups ?? {};
  const number = port === undefined ? defaultPort[kind] : Number(port);
  if (host === "" || number === 0 || number > 65535) throw malformed("a host or port is malformed", kind);
  return { host: bareHost(host), port: number };
};

const dbOf = (path: string | undefined, kind: RedisAddress["kind"]): number => {
  if (!path) return 0;
  if (!/^\d{1,4}$/.test(path)) throw malformed("the path is not the number of a database", kind);
  if (kind === "cluster" && path !== "0") throw malformed("a cluster has no database but 0", kind);
  return Number(path);
};

const masterOf = (query: string | undefined, kind: RedisAddress["kind"]): Pick<RedisAddress, "master"> => {
  const given = new URLSearchParams(query);
  const known = kind === "sentinel" ? ["master", "sentinel_user", "sentinel_password"] : [];
  if ([...given.keys()].some((name) => !known.includes(name))) throw malformed("a query parameter is not known", kind);
  if (kind !== "sentinel") return {};
  const [name, username, password] = known.map((parameter) => given.get(parameter) ?? "");
  if (!name) throw malformed("the name of the master is missing", kind);
  return { master: { name, sentinelLogin: { ...(username && { username }), ...(password && { password }) } } };
};

const parts =
  /^(?<scheme>[a-z-]+):\/\/(?:(?<user>[^:@/]*)(?::(?<secret>[^@/]*))?@)?(?<hosts>[^@/?#]*)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/;

/** Throws an error that names the variable and the form. */
export const parseRedisUrl = (url: string): RedisAddress => {
  const { scheme = "", user, secret, hosts = "", path, query } = parts.exec(url)?.groups ?? {};
  const base = Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined;
  if (!base) throw malformed("the URL is malformed or of an unknown scheme");
  const { kind } = base;
  const nodes = hosts.split(",").map((host) => addressOf(host.trim(), kind));
  if (kind === "single" && nodes.length > 1) throw malformed("there is more than one host", kind);
  return { ...base, nodes, login: loginOf(user, secret, kind), db: dbOf(path, kind), ...masterOf(query, kind) };
};
