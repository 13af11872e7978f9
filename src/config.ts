import { z } from "zod";

/** A comma-separated list; blanks around the items are ignored. */
const list = z
  .string()
  .default("")
  .transform((text) => text.split(",").flatMap((item) => item.trim() || []));

const port = z.coerce.number().int().min(0).max(65535);

const number = (fallback: number, min: number, max = Infinity) => z.coerce.number().min(min).max(max).default(fallback);

/** A path or a name; an empty text means none. */
const optional = z
  .string()
  .optional()
  .transform((path) => path || undefined);

/** Every setting of `browserpool api` and `browserpool operator`, by its environment variable. */
const Environment = z.object({
  BROWSERPOOL_HOST: z.string().default("127.0.0.1").describe("Address that the HTTP API listens on."),
  BROWSERPOOL_PORT: port.default(8080).describe("Port of the HTTP API."),
  BROWSERPOOL_OPS_PORT: port
    .optional()
    .describe(
      "Port of /livez, /readyz and /metrics, and of the api's /docs. Left out: the api has them on its own port, the operator nowhere.",
    ),
  BROWSERPOOL_STOP_GRACE_SECONDS: number(10, 0).describe(
    "Time that open requests and sockets have to end when the api is told to stop.",
  ),
  BROWSERPOOL_PUBLIC_URL: z
    .url()
    .optional()
    .describe(
      "URL under which callers reach the API; in answers and in cdp_ws_url. Left out: the Host of each request.",
    ),
  BROWSERPOOL_ALLOWED_HOSTS: list.describe(
    "Further Host names that requests may carry; loopback names and that of the public URL always may.",
  ),
  BROWSERPOOL_ALLOWED_ORIGINS: list.describe(
    "Origins from which web pages may call; by default none but the API's own.",
  ),
  REDIS_URL: z
    .string()
    .default("redis://127.0.0.1:6379/0")
    .describe(
      "Redis 7 or newer: one server, Sentinel or Cluster, with login and TLS where needed; forms in docs/redis.md.",
    ),
  BROWSERPOOL_SYSTEM_NAMESPACE: z
    .string()
    .default("browserpool-system")
    .describe("Namespace of API keys, the signing key and the leader lease."),
  BROWSERPOOL_DEFAULT_PROJECT: z.string().default("default").describe("Project of requests that name none."),
  BROWSERPOOL_POOLED_SESSIONS: number(50, 1).describe("Organization's limit on the sum of all pool sizes."),
  BROWSERPOOL_FILL_RATE_CAP: number(25, 0).describe("Largest fill_rate_per_minute, percent of a pool a minute."),
  BROWSERPOOL_MAX_SESSION_SECONDS: number(259_200, 10, 259_200).describe(
    "Longest life of a session; pools and browsers may lower it.",
  ),
  BROWSERPOOL_DRAIN_DEADLINE_SECONDS: number(600, 10, 86_400).describe(
    "How long a session may go on on a node that is drained; then it ends.",
  ),
  BROWSERPOOL_BROWSER_IMAGE: z.string().default("browserpool/browser:dev").describe("Image of browser pods."),
  BROWSERPOOL_BROWSER_TEMPLATE_FILE: optional.describe(
    "YAML file with additional fields of browser pods; docs/cluster-settings.md. Left out: none.",
  ),
  BROWSERPOOL_PROJECT_OBJECTS_FILE: optional.describe(
    "YAML file with objects that the operator keeps in the namespace of every project; docs/cluster-settings.md. Left out: none.",
  ),
  BROWSERPOOL_INITIAL_KEY_SECRET: optional.describe(
    "Secret of the system namespace for the first API key (entry api-key), made when the organization has no key. Left out: no key is made.",
  ),
  BROWSERPOOL_SECRETS_KEY_FILE: z
    .string()
    .optional()
    .describe(
      "File with keys that encrypt stored logins: 32 random bytes in base64, one on each line, the newest first; docs/vault.md. Left out: logins are stored unencrypted.",
    ),
  BROWSERPOOL_LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("Least severe level that is logged."),
  BROWSERPOOL_AUDIT_LOG: z
    .string()
    .min(1)
    .default("stdout")
    .describe("Where the api writes its audit lines: stdout, or a file that it appends to; docs/audit.md."),
  HOSTNAME: z.string().default("local").describe("Name of this replica; the pod's name in a cluster."),
});

export type Config = {
  host: string;
  port: number;
  opsPort: number | undefined;
  stopGraceMs: number;
  publicUrl: string | undefined;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
  redisUrl: string;
  systemNamespace: string;
  defaultProject: string;
  limits: { pooledSessions: number; fillRatePerMinute: number; sessionSeconds: number };
  drainDeadlineMs: number;
  browserImage: string;
  browserTemplateFile: string | undefined;
  projectObjectsFile: string | undefined;
  initialKeySecret: string | undefined;
  secretsKeyFile: string | undefined;
  logLevel: string;
  auditLog: string;
  replica: string;
};

type Variables = Record<string, string | undefined>;

/** The process's environment; no other file reads it. */
export const environment: Readonly<Variables> = process.env;

/** Removes a variable, so that neither later code nor a child process gets it. The kernel's copy (`/proc`) stays. */
export const forgetVariable = (name: string): void => void delete process.env[name];

/**
 * Reads the environment. Throws an error that names each bad variable. The result is frozen. Values of `fixed` win over the
 * environment; `fallback` gives values that the environment lacks.
 */
export const readConfig = (fixed: Variables = {}, fallback: Variables = {}): Readonly<Config> => {
  const { data: env, error } = Environment.safeParse({ ...fallback, ...environment, ...fixed });
  if (!env) {
    const problems = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw new Error(`bad configuration: ${problems.join("; ")}`);
  }
  return Object.freeze({
    host: env.BROWSERPOOL_HOST,
    port: env.BROWSERPOOL_PORT,
    opsPort: env.BROWSERPOOL_OPS_PORT,
    stopGraceMs: env.BROWSERPOOL_STOP_GRACE_SECONDS * 1000,
    publicUrl: env.BROWSERPOOL_PUBLIC_URL,
    allowedHosts: env.BROWSERPOOL_ALLOWED_HOSTS,
    allowedOrigins: env.BROWSERPOOL_ALLOWED_ORIGINS,
    redisUrl: env.REDIS_URL,
    systemNamespace: env.BROWSERPOOL_SYSTEM_NAMESPACE,
    defaultProject: env.BROWSERPOOL_DEFAULT_PROJECT,
    limits: {
      pooledSessions: env.BROWSERPOOL_POOLED_SESSIONS,
      fillRatePerMinute: env.BROWSERPOOL_FILL_RATE_CAP,
      sessionSeconds: env.BROWSERPOOL_MAX_SESSION_SECONDS,
    },
    drainDeadlineMs: env.BROWSERPOOL_DRAIN_DEADLINE_SECONDS * 1000,
    browserImage: env.BROWSERPOOL_BROWSER_IMAGE,
    browserTemplateFile: env.BROWSERPOOL_BROWSER_TEMPLATE_FILE,
    projectObjectsFile: env.BROWSERPOOL_PROJECT_OBJECTS_FILE,
    initialKeySecret: env.BROWSERPOOL_INITIAL_KEY_SECRET,
    secretsKeyFile: env.BROWSERPOOL_SECRETS_KEY_FILE,
    logLevel: env.BROWSERPOOL_LOG_LEVEL,
    auditLog: env.BROWSERPOOL_AUDIT_LOG,
    replica: env.HOSTNAME,
  });
};

/** Name, default and meaning of every variable, for the documentation. */
export const configTable = (): { name: string; fallback: string; text: string }[] =>
  Object.entries(Environment.shape).map(([name, schema]) => {
    const fallback = schema.safeParse(undefined).data;
    return { name, fallback: fallback === undefined ? "" : String(fallback), text: schema.description ?? "" };
  });
