import type { z } from "zod";
import { environment, type Variables } from "../../platform/base/environment.ts";
import type { BlobSettings } from "../../platform/blobs/open-blob-store.ts";
import type { SpanDestination } from "../../platform/tracing/span-exporter.ts";
import { type browserFeatures, Environment } from "./variables.ts";

/** A bound on what one API key may use, and on what all keys of a project may use together. */
export type CallerBound = { key: number; project: number };

/** The bounds of callers. Each replica of the api counts for itself, except for `keptAnswerBytes`. */
export type CallerBounds = {
  requestsPerSecond: CallerBound;
  openRequests: CallerBound;
  /** `project`: also the bound of one pool's queue in all replicas. */
  waitingAcquires: CallerBound;
  keptAnswerBytes: CallerBound;
  /** CDP connections of a project. */
  connections: number;
  /** Failed attempts from one address. */
  failedAttemptsPerMinute: number;
};

/** The organization's limits. */
export type Limits = {
  /** Sum of the sizes of all pools. */
  pooledSessions: number;
  /** Percent of a pool a minute. */
  fillRatePerMinute: number;
  /** Longest life of a session, s. */
  sessionSeconds: number;
  /** On-demand browsers at once. */
  onDemandSessions: number;
  /** On-demand browsers at once in a project without a cap of its own. */
  projectOnDemandSessions: number;
  /** Sum of the sizes of a project's pools of blank browsers. */
  blankBrowsers: number;
  /** Most objects of a kind that HTTP makes in a project, by the plural. */
  objectsPerProject: Readonly<Record<string, number>>;
  extensionBytesPerProject: number;
  policyBytesPerProject: number;
};

/** How the api checks proxies. `privateHosts`: host patterns of private places where a proxy may be. */
export type ProxyCheckSettings = { enabled: boolean; url: string | undefined; privateHosts: readonly string[] };

/** The config registry. `proxyCountries`: undefined for any. */
type SiteSettings = {
  minTrials: number;
  minRate: number;
  proxyCountries: readonly string[] | undefined;
  /** Undefined: no site is analyzed. */
  analysesFile: string | undefined;
};

/** What is kept of telemetry: of a session with storage, and of a project's ended sessions. */
type KeptTelemetrySettings = { session: { bytes: number; seconds: number }; endedBytesPerProject: number };

/** How long recordings are kept, s, and the most bytes of a project's recordings. */
type KeptRecordingSettings = { seconds: number; bytesPerProject: number };

/** How long the files of an ended session are kept, s: 0 for not at all. Most bytes of those of a project. */
type KeptFileSettings = { seconds: number; bytesPerProject: number };

export type Config = {
  host: string;
  port: number;
  opsPort: number | undefined;
  stopGraceMs: number;
  publicUrl: string | undefined;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
  /** Whose pages may embed the live view. */
  liveViewOrigins: readonly string[];
  /** To whom the console is served: to loopback names only, or to all. */
  console: "off" | "loopback" | "on";
  trustedProxies: readonly string[];
  redisUrl: string;
  systemNamespace: string;
  defaultProject: string;
  limits: Limits;
  callers: CallerBounds;
  drainDeadlineMs: number;
  /** Most ended sessions that Redis keeps, and most bytes of them. */
  endedLimits: Record<"pool" | "all", { count: number; bytes: number }>;
  keptTelemetry: KeptTelemetrySettings;
  keptRecordings: KeptRecordingSettings;
  keptFiles: KeptFileSettings;
  /** Pools that have metrics of their own. */
  metricsPools: number;
  browserImage: string;
  browserTemplateFile: string | undefined;
  browserFeatures: readonly ((typeof browserFeatures)[number] | "blob_store" | "session_outcomes")[];
  /** Whether holders may run processes beside their browsers. */
  processes: boolean;
  /** Whether the browsers of logins that the service does itself have no display. */
  hasHeadlessLogins: boolean;
  projectObjectsFile: string | undefined;
  /** Names of Secrets of the system namespace that projects get copies of. */
  pullSecrets: readonly string[];
  initialKeySecret: string | undefined;
  secretsKeyFile: string | undefined;
  /** Undefined: the installation has no store for blobs. */
  blobs: BlobSettings | undefined;
  /** Undefined: nothing is traced. `serviceName`: undefined: by the process. `ratio`: of traces that begin here. */
  tracing: (Omit<SpanDestination, "serviceName"> & { serviceName: string | undefined; ratio: number }) | undefined;
  proxyProviderFile: string | undefined;
  proxyChecks: ProxyCheckSettings;
  /** Patterns of private hosts that telemetry may be exported to. */
  privateDestinations: readonly string[];
  /** Origins of servers that credential providers may name. */
  credentialProviderAddresses: readonly string[];
  sites: SiteSettings;
  logLevel: string;
  auditLog: string;
  replica: string;
};

const blobSettings = (env: z.infer<typeof Environment>): BlobSettings | undefined => {
  const place = env.BROWSERPOOL_BLOBS;
  if (place?.kind !== "s3") return place;
  const endpoint = env.BROWSERPOOL_S3_ENDPOINT;
  const pathStyle = env.BROWSERPOOL_S3_PATH_STYLE ?? String(endpoint !== undefined);
  return { ...place, endpoint, region: env.BROWSERPOOL_S3_REGION, pathStyle: pathStyle === "true" };
};

const keptFileSettings = (env: z.infer<typeof Environment>): KeptFileSettings => ({
  seconds: env.BROWSERPOOL_BLOBS ? Math.floor(env.BROWSERPOOL_KEPT_FILES_SECONDS) : 0,
  bytesPerProject: Math.floor(env.BROWSERPOOL_KEPT_FILES_BYTES_PER_PROJECT),
});

const proxyCheckSettings = (env: z.infer<typeof Environment>): ProxyCheckSettings => ({
  enabled: env.BROWSERPOOL_PROXY_CHECKS === "on",
  url: env.BROWSERPOOL_PROXY_CHECK_URL,
  privateHosts: env.BROWSERPOOL_PROXY_CHECK_PRIVATE_HOSTS,
});

const siteSettings = (env: z.infer<typeof Environment>): SiteSettings => ({
  minTrials: env.BROWSERPOOL_REGISTRY_MIN_TRIALS,
  minRate: env.BROWSERPOOL_REGISTRY_MIN_SUCCESS_RATE,
  proxyCountries:
    env.BROWSERPOOL_REGISTRY_PROXY_COUNTRIES.length > 0 ? env.BROWSERPOOL_REGISTRY_PROXY_COUNTRIES : undefined,
  analysesFile: env.BROWSERPOOL_ANALYSES_FILE,
});

const tracingSettings = (env: z.output<typeof Environment>): Config["tracing"] => {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  return {
    endpoint: `${endpoint.replace(/\/$/, "")}/v1/traces`,
    headers: env.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: env.OTEL_SERVICE_NAME,
    ratio: env.OTEL_TRACES_SAMPLER_ARG,
  };
};

/**
 * Reads the environment. Throws an error that names each bad variable. The result is frozen. Values of `fixed` win over
 * the environment; `fallback` gives values that the environment lacks.
 */
export const readConfig = (fixed: Variables = {}, fallback: Variables = {}): Readonly<Config> => {
  const { data: env, error } = Environment.safeParse({ ...fallback, ...environment, ...fixed });
  if (!env) {
    const problems = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw new Error(`bad configuration: ${problems.join("; ")}`);
  }
  const blobs = blobSettings(env);
  return Object.freeze({
    host: env.BROWSERPOOL_HOST,
    port: env.BROWSERPOOL_PORT,
    opsPort: env.BROWSERPOOL_OPS_PORT,
    stopGraceMs: env.BROWSERPOOL_STOP_GRACE_SECONDS * 1000,
    publicUrl: env.BROWSERPOOL_PUBLIC_URL,
    allowedHosts: env.BROWSERPOOL_ALLOWED_HOSTS,
    allowedOrigins: env.BROWSERPOOL_ALLOWED_ORIGINS,
    liveViewOrigins: env.BROWSERPOOL_LIVE_VIEW_ORIGINS,
    console: env.BROWSERPOOL_CONSOLE,
    trustedProxies: env.BROWSERPOOL_TRUSTED_PROXIES,
    redisUrl: env.REDIS_URL,
    systemNamespace: env.BROWSERPOOL_SYSTEM_NAMESPACE,
    defaultProject: env.BROWSERPOOL_DEFAULT_PROJECT,
    limits: {
      pooledSessions: env.BROWSERPOOL_POOLED_SESSIONS,
      fillRatePerMinute: env.BROWSERPOOL_FILL_RATE_CAP,
      sessionSeconds: env.BROWSERPOOL_MAX_SESSION_SECONDS,
      onDemandSessions: env.BROWSERPOOL_ON_DEMAND_SESSIONS,
      projectOnDemandSessions: env.BROWSERPOOL_PROJECT_ON_DEMAND_SESSIONS,
      blankBrowsers: env.BROWSERPOOL_BLANK_BROWSERS,
      objectsPerProject: env.BROWSERPOOL_OBJECTS_PER_PROJECT,
      extensionBytesPerProject: env.BROWSERPOOL_EXTENSION_BYTES_PER_PROJECT,
      policyBytesPerProject: env.BROWSERPOOL_POLICY_BYTES_PER_PROJECT,
    },
    callers: {
      requestsPerSecond: {
        key: env.BROWSERPOOL_KEY_REQUESTS_PER_SECOND,
        project: env.BROWSERPOOL_PROJECT_REQUESTS_PER_SECOND,
      },
      openRequests: { key: env.BROWSERPOOL_KEY_OPEN_REQUESTS, project: env.BROWSERPOOL_PROJECT_OPEN_REQUESTS },
      waitingAcquires: {
        key: env.BROWSERPOOL_KEY_WAITING_ACQUIRES,
        project: env.BROWSERPOOL_PROJECT_WAITING_ACQUIRES,
      },
      keptAnswerBytes: {
        key: env.BROWSERPOOL_KEY_KEPT_ANSWERS_MB * 1e6,
        project: env.BROWSERPOOL_PROJECT_KEPT_ANSWERS_MB * 1e6,
      },
      connections: env.BROWSERPOOL_PROJECT_CONNECTIONS,
      failedAttemptsPerMinute: env.BROWSERPOOL_FAILED_ATTEMPTS_PER_MINUTE,
    },
    drainDeadlineMs: env.BROWSERPOOL_DRAIN_DEADLINE_SECONDS * 1000,
    endedLimits: {
      pool: { count: env.BROWSERPOOL_ENDED_LEASES_PER_POOL, bytes: env.BROWSERPOOL_ENDED_BYTES_PER_POOL },
      all: { count: env.BROWSERPOOL_ENDED_LEASES, bytes: env.BROWSERPOOL_ENDED_BYTES },
    },
    keptTelemetry: {
      session: {
        bytes: Math.floor(env.BROWSERPOOL_TELEMETRY_BYTES_PER_SESSION),
        seconds: Math.floor(env.BROWSERPOOL_TELEMETRY_SECONDS),
      },
      endedBytesPerProject: Math.floor(env.BROWSERPOOL_TELEMETRY_ENDED_BYTES_PER_PROJECT),
    },
    keptRecordings: {
      seconds: Math.floor(env.BROWSERPOOL_REPLAY_SECONDS),
      bytesPerProject: Math.floor(env.BROWSERPOOL_REPLAY_BYTES_PER_PROJECT),
    },
    keptFiles: keptFileSettings(env),
    metricsPools: env.BROWSERPOOL_METRICS_POOLS,
    browserImage: env.BROWSERPOOL_BROWSER_IMAGE,
    browserTemplateFile: env.BROWSERPOOL_BROWSER_TEMPLATE_FILE,
    browserFeatures: [
      ...env.BROWSERPOOL_BROWSER_FEATURES,
      ...(blobs ? ["blob_store" as const] : []),
      ...(env.BROWSERPOOL_SESSION_OUTCOMES === "on" ? ["session_outcomes" as const] : []),
    ],
    processes: env.BROWSERPOOL_PROCESSES === "on",
    hasHeadlessLogins: env.BROWSERPOOL_LOGIN_BROWSERS === "headless",
    projectObjectsFile: env.BROWSERPOOL_PROJECT_OBJECTS_FILE,
    pullSecrets: env.BROWSERPOOL_PULL_SECRETS,
    initialKeySecret: env.BROWSERPOOL_INITIAL_KEY_SECRET,
    secretsKeyFile: env.BROWSERPOOL_SECRETS_KEY_FILE,
    blobs,
    proxyProviderFile: env.BROWSERPOOL_PROXY_PROVIDER_FILE,
    proxyChecks: proxyCheckSettings(env),
    privateDestinations: env.BROWSERPOOL_TELEMETRY_PRIVATE_DESTINATIONS,
    credentialProviderAddresses: env.BROWSERPOOL_CREDENTIAL_PROVIDER_ADDRESSES,
    sites: siteSettings(env),
    ...{ tracing: tracingSettings(env), logLevel: env.BROWSERPOOL_LOG_LEVEL },
    auditLog: env.BROWSERPOOL_AUDIT_LOG,
    replica: env.HOSTNAME,
  });
};
