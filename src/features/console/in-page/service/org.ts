/** What the organization has, as the API shows it, and how much of it is used. */
import type { z } from "zod";
import type {
  ApiKeyWire,
  CreatedApiKeyWire,
  OrganizationLimitsWire,
  ProjectLimitsWire,
  ProjectWire,
} from "../../../../core/api/org-wire.ts";
import type { Session } from "../../../../core/model/sessions/session-wire.ts";
import { open } from "./api.ts";
import type { Pool } from "./pool-state.ts";

export type ApiKey = z.infer<typeof ApiKeyWire>;
export type CreatedApiKey = z.infer<typeof CreatedApiKeyWire>;
export type Project = z.infer<typeof ProjectWire>;
export type ProjectLimits = z.infer<typeof ProjectLimitsWire>;
export type OrganizationLimits = z.infer<typeof OrganizationLimitsWire>;

/** Browsers of pools by the pools' sizes, and those of sessions without a pool. */
export type Use = { pooled: number; onDemand: number };

/** The whole list of another project than the chosen one, of 1,000 entries at most. */
const readOf = async <T>(projectId: string, path: string, signal: AbortSignal): Promise<T[]> => {
  const all: T[] = [];
  for (let offset = 0; offset < 1000; offset += 100) {
    const headers = { "X-Kernel-Project-Id": projectId };
    const response = await open("GET", path, { query: { limit: 100, offset }, headers, signal });
    all.push(...((await response.json()) as T[]));
    if (response.headers.get("X-Has-More") !== "true") break;
  }
  return all;
};

/** What a project uses now. */
export const readUse = async (projectId: string, signal: AbortSignal): Promise<Use> => {
  const [pools, sessions] = await Promise.all([
    readOf<Pool>(projectId, "/browser_pools", signal),
    readOf<Session>(projectId, "/browsers", signal),
  ]);
  return {
    pooled: pools.reduce((sum, { browser_pool_config }) => sum + browser_pool_config.size, 0),
    onDemand: sessions.filter(({ pool }) => pool === undefined).length,
  };
};
