import { z } from "zod";
import {
  blobPlace,
  list,
  number,
  numbersByName,
  optional,
  origins,
  otlpHeaders,
  port,
  ranges,
  serverOrigins,
  whole,
} from "./variable-forms.ts";

/** What browsers may have only where the installation can give it (core/model/settings/browser-features.ts). */
export const browserFeatures = ["network", "chrome_policy", "loopback", "memory_16GiB", "gpu"] as const;

/** Every setting of `browserpool api` and `browserpool operator`, by its environment variable. */
export const Environment = z.object({
  BROWSERPOOL_HOST: z.string().default("127.0.0.1").describe("Address that the HTTP API listens on."),
  BROWSERPOOL_PORT: port.default(8080).describe("Port of the HTTP API."),
  BROWSERPOOL_OPS_PORT: port
    .optional()
    .describe(
      "Port of /livez, /readyz and /metrics, and of the api's /docs. Left out: the api has them on its own port, the operator nowhere.",
    ),
  BROWSERPOOL_STOP_GRACE_SECONDS: number(10, 0).describe(
    "Longest time that an api that is told to stop serves its open requests and sockets; it ends with the last of them.",
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
  BROWSERPOOL_ALLOWED_ORIGINS: origins.describe(
    "Origins from which web pages may call; by default none but the API's own.",
  ),
  BROWSERPOOL_LIVE_VIEW_ORIGINS: origins.describe(
    "Origins whose web pages may embed the live view in a frame; by default none.",
  ),
  BROWSERPOOL_CONSOLE: z
    .enum(["off", "loopback", "on"])
    .default("off")
    .describe(
      "Whether the api serves the console: to requests whose Host is a loopback name, as by kubectl port-forward, or to all. Local mode: on.",
    ),
  BROWSERPOOL_TRUSTED_PROXIES: ranges.describe(
    "Ranges (CIDR) of proxies in front of the API; X-Forwarded-For counts only as far as they wrote it. Left out: the address of the connection counts.",
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
  BROWSERPOOL_ON_DEMAND_SESSIONS: whole(50, 0).describe("Organization's limit on on-demand browsers at once."),
  BROWSERPOOL_PROJECT_ON_DEMAND_SESSIONS: whole(25, 0).describe(
    "On-demand browsers at once in a project without a limit of its own.",
  ),
  BROWSERPOOL_BLANK_BROWSERS: whole(10, 0).describe(
    "Most blank browsers of a project (`spec.blank` of a pool), in use or not. They count against the limits above while they are in use.",
  ),
  BROWSERPOOL_OBJECTS_PER_PROJECT: numbersByName(
    "browserpools=100,vaults=500,vaultitems=1000,credentials=200,authconnections=500,proxies=200,profiles=500,extensions=100",
  ).describe(
    "Most objects of each kind that HTTP makes in a project, by the plural. A kind that is left out has no bound.",
  ),
  BROWSERPOOL_EXTENSION_BYTES_PER_PROJECT: whole(1_073_741_824, 1).describe(
    "Bytes of all archives of extensions of a project.",
  ),
  BROWSERPOOL_POLICY_BYTES_PER_PROJECT: whole(134_217_728, 1).describe(
    "Bytes of the Chrome policies that pools of a project keep in ConfigMaps, each of which counts as 700 KiB.",
  ),
  BROWSERPOOL_PROJECT_REQUESTS_PER_SECOND: whole(500, 1).describe(
    "Requests of a project in a second, in each replica of the api; twice as many at once.",
  ),
  BROWSERPOOL_KEY_REQUESTS_PER_SECOND: whole(250, 1).describe("The same for one API key."),
  BROWSERPOOL_PROJECT_OPEN_REQUESTS: whole(2000, 1).describe(
    "Open requests of a project, waiting acquires included, in each replica of the api.",
  ),
  BROWSERPOOL_KEY_OPEN_REQUESTS: whole(1000, 1).describe("The same for one API key."),
  BROWSERPOOL_PROJECT_WAITING_ACQUIRES: whole(1000, 1).describe(
    "Callers that wait for a browser: of a project in each replica of the api, and of one pool in all replicas.",
  ),
  BROWSERPOOL_KEY_WAITING_ACQUIRES: whole(500, 1).describe("The same for one API key in each replica."),
  BROWSERPOOL_PROJECT_KEPT_ANSWERS_MB: number(64, 1).describe(
    "Megabytes of Redis for a project's answers to requests with an Idempotency-Key, which are kept for a day.",
  ),
  BROWSERPOOL_KEY_KEPT_ANSWERS_MB: number(32, 1).describe("The same for one API key."),
  BROWSERPOOL_PROJECT_CONNECTIONS: whole(2500, 1).describe(
    "CDP connections of a project's sessions, in each replica of the api.",
  ),
  BROWSERPOOL_FAILED_ATTEMPTS_PER_MINUTE: whole(120, 1).describe(
    "Requests in a minute from one address with an unknown API key, token or login link; more get 429. Valid ones are always served.",
  ),
  BROWSERPOOL_ENDED_LEASES_PER_POOL: number(20_000, 0).describe(
    "Most ended sessions that are kept of one pool; the oldest go first.",
  ),
  BROWSERPOOL_ENDED_BYTES_PER_POOL: number(16 * 1024 * 1024, 0).describe("Most memory of Redis for them, bytes."),
  BROWSERPOOL_ENDED_LEASES: number(100_000, 0).describe(
    "Most ended sessions that are kept of all pools together; sessions of the largest project go first.",
  ),
  BROWSERPOOL_ENDED_BYTES: number(64 * 1024 * 1024, 0).describe("Most memory of Redis for them, bytes."),
  BROWSERPOOL_TELEMETRY_BYTES_PER_SESSION: number(4 * 1024 * 1024, 64 * 1024).describe(
    "Most memory of Redis for the telemetry events of a session with storage, bytes; the oldest go first.",
  ),
  BROWSERPOOL_TELEMETRY_SECONDS: number(86_400, 60, 7 * 86_400).describe(
    "How long they are kept, s; after the session's end, all of them.",
  ),
  BROWSERPOOL_TELEMETRY_ENDED_BYTES_PER_PROJECT: number(32 * 1024 * 1024, 0).describe(
    "Most memory of Redis for the events of a project's ended sessions, bytes; those that would go next go first.",
  ),
  BROWSERPOOL_REPLAY_SECONDS: number(86_400, 60, 7 * 86_400).describe(
    "How long recordings of sessions are kept after their end, s.",
  ),
  BROWSERPOOL_REPLAY_BYTES_PER_PROJECT: number(4 * 1024 ** 3, 0).describe(
    "Most bytes of the blob store for a project's recordings; a new recording counts with the most that it may become.",
  ),
  BROWSERPOOL_KEPT_FILES_SECONDS: number(0, 0, 86_400).describe(
    "How long the files of a session can be read after its end, s, where there is a store of blobs; for api and operator. 0: not at all; docs/files.md.",
  ),
  BROWSERPOOL_KEPT_FILES_BYTES_PER_PROJECT: number(4 * 1024 ** 3, 0).describe(
    "Most bytes of the blob store for the files of a project's ended sessions.",
  ),
  BROWSERPOOL_METRICS_POOLS: whole(200, 0).describe(
    "Pools and projects that metrics tell apart, the oldest ones; the others are added up as `other`.",
  ),
  BROWSERPOOL_BROWSER_IMAGE: z
    .string()
    .default("registry.invalid/browserpool/browser:dev")
    .describe("Image of browser pods. The default can't be pulled; local mode pulls none."),
  BROWSERPOOL_BROWSER_TEMPLATE_FILE: optional.describe(
    "YAML file with additional fields of browser pods; docs/cluster-settings.md. Left out: none.",
  ),
  BROWSERPOOL_BROWSER_FEATURES: list
    .pipe(z.array(z.enum(browserFeatures)))
    .describe(
      "Settings that browsers can be given here: network (with proxies), chrome_policy, loopback (for network.private_hosts and proxies; local mode alone has it), memory_16GiB, gpu. Others are refused as not_supported_here. Local mode finds out itself.",
    ),
  BROWSERPOOL_PROCESSES: z
    .enum(["off", "on"])
    .default("off")
    .describe(
      "Whether holders whose key has processes:run may run processes beside their browsers (docs/processes.md). Browser pods need it too: the chart and local mode give it to them.",
    ),
  BROWSERPOOL_PROJECT_OBJECTS_FILE: optional.describe(
    "YAML file with objects that the operator keeps in the namespace of every project; docs/cluster-settings.md. Left out: none.",
  ),
  BROWSERPOOL_PULL_SECRETS: list
    .refine((names) => names.length <= 8, "at most 8")
    .describe(
      "Secrets of the system namespace with logins for image registries, which the operator copies into every project's; docs/cluster-settings.md. Left out: none.",
    ),
  BROWSERPOOL_INITIAL_KEY_SECRET: optional.describe(
    "Secret of the system namespace for the first API key (entry api-key), made when the organization has no key. Left out: no key is made.",
  ),
  BROWSERPOOL_SECRETS_KEY_FILE: z
    .string()
    .optional()
    .describe(
      "File with keys that encrypt stored logins and secrets of proxies: 32 random bytes in base64, one on each line, the newest first; docs/vault.md. Left out: they are stored unencrypted.",
    ),
  BROWSERPOOL_PROXY_PROVIDER_FILE: optional.describe(
    "YAML file with the provider of managed proxies; docs/proxies.md. Left out: only custom proxies.",
  ),
  BROWSERPOOL_PROXY_CHECKS: z
    .enum(["on", "off"])
    .default("on")
    .describe("Whether POST /proxies/{id}/check connects to proxies from the api; off where it has no way out."),
  BROWSERPOOL_PROXY_CHECK_URL: optional
    .pipe(z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).optional())
    .describe(
      "URL that checks of proxies load when they name none; it may answer the caller's address, as text or as JSON with ip. Left out: the proxy's own answer is the result.",
    ),
  BROWSERPOOL_PROXY_CHECK_PRIVATE_HOSTS: list
    .refine((hosts) => hosts.length <= 32, "at most 32")
    .describe(
      "Private or loopback hosts, addresses and ranges where checks may find the proxy itself. Left out: none.",
    ),
  BROWSERPOOL_TELEMETRY_PRIVATE_DESTINATIONS: list
    .refine((hosts) => hosts.length <= 32, "at most 32")
    .describe(
      "Private or loopback hosts, addresses and ranges to which telemetry may be exported; docs/telemetry-destinations.md. Left out: public ones only.",
    ),
  BROWSERPOOL_CREDENTIAL_PROVIDER_ADDRESSES: serverOrigins
    .refine((addresses) => addresses.length <= 32, "at most 32")
    .describe(
      "Origins of the Vaults that credential providers may name, such as https://vault.example:8200; docs/credential-providers.md. Left out: none, and the type vault is refused.",
    ),
  BROWSERPOOL_BLOBS: blobPlace.describe(
    "Where the contents of profiles and extensions, and recordings, are kept: file:///folder, which all replicas share, or s3://bucket/prefix; docs/blobs.md. Left out: nowhere, and what needs it is refused. Local mode: a folder of its data.",
  ),
  BROWSERPOOL_S3_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("URL of an S3 server other than AWS."),
  BROWSERPOOL_S3_REGION: z.string().min(1).default("us-east-1").describe("Region of the bucket."),
  BROWSERPOOL_S3_PATH_STYLE: z
    .enum(["true", "false"])
    .optional()
    .describe(
      "Whether requests name the bucket in their path instead of the host. Left out: only with BROWSERPOOL_S3_ENDPOINT.",
    ),
  BROWSERPOOL_LOGIN_BROWSERS: z
    .enum(["headless", "headful"])
    .default("headless")
    .describe(
      "Browsers of logins that the service does itself; docs/logins.md. Headful: people see a whole browser in the live view, and it takes a display and more memory.",
    ),
  BROWSERPOOL_REGISTRY_MIN_TRIALS: whole(3, 1).describe(
    "Judged trials that a configuration needs before the config registry recommends it.",
  ),
  BROWSERPOOL_REGISTRY_MIN_SUCCESS_RATE: number(0.7, 0, 1).describe(
    "Share of them that reached the site, from 0 to 1, that it needs as well.",
  ),
  BROWSERPOOL_REGISTRY_PROXY_COUNTRIES: list
    .pipe(z.array(z.string().regex(/^[A-Z]{2}$/, "must be ISO 3166 codes such as US")))
    .describe(
      "Countries of the proxies that lookups may recommend when they name none themselves, ISO 3166. Left out: any.",
    ),
  BROWSERPOOL_ANALYSES_FILE: optional.describe(
    "YAML file that says how sites are analyzed, for api and operator; docs/config-registry.md. Left out: none is.",
  ),
  BROWSERPOOL_SESSION_OUTCOMES: z
    .enum(["on", "off"])
    .default("off")
    .describe(
      "Whether sessions whose callers allow it (report_outcome) add to what the config registry knows; docs/config-registry.md.",
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
  OTEL_EXPORTER_OTLP_ENDPOINT: optional
    .pipe(z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).optional())
    .describe(
      "Receiver of the spans of api and operator, OTLP over HTTP; /v1/traces is added. Left out: nothing is traced; docs/tracing.md.",
    ),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .default("")
    .transform(otlpHeaders)
    .describe("Headers for that receiver, as name=value,name=value; values may be percent-encoded."),
  OTEL_SERVICE_NAME: optional.describe(
    "The service's name in its spans. Left out: browserpool-api, and browserpool-operator.",
  ),
  OTEL_TRACES_SAMPLER_ARG: number(1, 0, 1).describe(
    "Share of requests that are traced, of those whose caller does not say it by traceparent, and of starts of browsers.",
  ),
  HOSTNAME: z.string().default("local").describe("Name of this replica; the pod's name in a cluster."),
});

/** A default as the variable would have it. */
const textOf = (fallback: unknown): string => {
  // The text of a list has its commas.
  if (typeof fallback !== "object" || fallback === null || Array.isArray(fallback)) return String(fallback ?? "");
  return Object.entries(fallback)
    .map(([name, count]) => `${name}=${count}`)
    .join(",");
};

/** Name, default and meaning of every variable, for the documentation. */
export const configTable = (): { name: string; fallback: string; text: string }[] =>
  Object.entries(Environment.shape).map(([name, schema]) => {
    const fallback = schema.safeParse(undefined).data;
    return { name, fallback: textOf(fallback), text: schema.description ?? "" };
  });
