/** `GET /org/entitlements`: what this installation can do, in the words that the public clients have for plans. */
import { z } from "zod";
import type { Config } from "../config/config.ts";
import { routesWith } from "../http/route.ts";
import { minHealthCheckSeconds } from "../projects/organization-limits.ts";

const secondsPerDay = 86_400;

const noLimit = z.null().describe("Always null: their number has no limit of the organization.");
const feature = (text: string) => z.object({ enabled: z.boolean().describe(text) });
const served = (what: string) => z.object({ enabled: z.literal(true).describe(`${what} are always there.`) });
const absent = (text: string) => z.object({ enabled: z.literal(false).describe(text) });
const plan = z.literal("ENTERPRISE").describe("Always ENTERPRISE: there are no plans.");
const noInvocations = z.literal(0).describe("Always 0: apps are another product (docs/surface.md).");
const healthCheck = z.int().describe("Any interval is refused where logins are not checked periodically.");

const EntitlementsWire = z.object({
  features: z.object({
    browser_extensions: z.object({
      enabled: z.boolean().describe("Whether there is a store of blobs for them."),
      max_stored_per_org: noLimit,
    }),
    browser_pools: served("Pools"),
    browser_replays: z.object({
      enabled: z.boolean().describe("Whether there is a store of blobs for them."),
      retention_days: z.int().describe("Whole days for which a recording is kept after its end."),
    }),
    credential_providers: served("Credential providers"),
    credentials: served("Credentials"),
    custom_proxies: feature("Whether browsers have network rules, by which proxies work."),
    file_io: served("Files of a session"),
    gpu: feature("Whether browsers can have a GPU."),
    managed_auth: z.object({
      enabled: z.literal(true).describe("Connections are always there; people log in on the hosted page."),
      health_check_interval_default_seconds: healthCheck,
      health_check_interval_max_seconds: healthCheck,
      health_check_interval_min_seconds: healthCheck,
      max_connections: noLimit,
    }),
    managed_proxies: feature("Whether the installation has a provider of proxies."),
    profiles: served("Profiles"),
    proxy_bypass_hosts: feature("Whether browsers have network rules, by which proxies work."),
    search: absent("Search is another product (docs/surface.md)."),
    vaults: served("Vaults"),
  }),
  limits: z.object({
    default_max_concurrent_invocations_per_app: noInvocations,
    max_concurrent_browsers: z
      .int()
      .min(1)
      .describe("Browsers at once in all projects together, pooled and on demand."),
    max_concurrent_invocations: noInvocations,
    max_vaults: noLimit,
  }),
  plan: z.object({
    id: plan,
    effective_id: plan,
    is_trialing: z.literal(false),
    status: z.null(),
    trial_ends_at: z.null(),
  }),
});

const entitlementsOf = ({
  blobs,
  browserFeatures,
  keptRecordings,
  limits,
  proxyProviderFile,
}: Config): z.input<typeof EntitlementsWire> => {
  const hasProxies = browserFeatures.includes("network");
  return {
    features: {
      browser_extensions: { enabled: blobs !== undefined, max_stored_per_org: null },
      browser_pools: { enabled: true },
      browser_replays: {
        enabled: blobs !== undefined,
        retention_days: Math.floor(keptRecordings.seconds / secondsPerDay),
      },
      credential_providers: { enabled: true },
      credentials: { enabled: true },
      custom_proxies: { enabled: hasProxies },
      file_io: { enabled: true },
      gpu: { enabled: browserFeatures.includes("gpu") },
      managed_auth: {
        enabled: true,
        health_check_interval_default_seconds: minHealthCheckSeconds,
        health_check_interval_max_seconds: secondsPerDay,
        health_check_interval_min_seconds: minHealthCheckSeconds,
        max_connections: null,
      },
      managed_proxies: { enabled: hasProxies && proxyProviderFile !== undefined },
      profiles: { enabled: true },
      proxy_bypass_hosts: { enabled: hasProxies },
      search: { enabled: false },
      vaults: { enabled: true },
    },
    limits: {
      default_max_concurrent_invocations_per_app: 0,
      max_concurrent_browsers: limits.pooledSessions + limits.onDemandSessions,
      max_concurrent_invocations: 0,
      max_vaults: null,
    },
    plan: { id: "ENTERPRISE", effective_id: "ENTERPRISE", is_trialing: false, status: null, trial_ends_at: null },
  };
};

/** All of it is settled by the configuration. */
export const getEntitlementsRoute = routesWith<{ config: Config }>()(
  {
    method: "get",
    path: "/org/entitlements",
    operationId: "getEntitlements",
    tag: "Limits",
    scope: "organization",
    permission: "organization",
    summary: "Get what this installation can do",
    answers: { 200: { description: "Features and limits of this installation", schema: EntitlementsWire } },
    errors: [],
  },
  async ({ deps }) => ({ status: 200, body: entitlementsOf(deps.config) }),
);
