import { z } from "zod";
import { wireName } from "../../platform/kinds/identity.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { isWanted, Paging, pageOf } from "../http/paging.ts";
import { routesWith } from "../http/route.ts";
import type { ApiMetrics } from "../metrics/api-metrics.ts";
import { BrowserPoolSpec } from "../model/pools/browser-pool.ts";
import { BrowserPoolAnswer, CreateBrowserPool, UpdateBrowserPool } from "../model/pools/browser-pool-wire.ts";
import { AcquireBrowser, ReleaseBrowser, Session } from "../model/sessions/session-wire.ts";
import { createPool, deletePool, flushPool, updatePool } from "../pools/use-cases/change-pools.ts";
import { describePool, describePools, fetchPool, fetchPools } from "../pools/use-cases/fetch-pool.ts";
import type { PoolRoomDeps } from "../pools/use-cases/pool-checks.ts";
import { PoolEvent, poolEvents } from "../pools/use-cases/pool-events.ts";
import { poolQueue, QueuedSession } from "../pools/use-cases/pool-queue.ts";
import type { CallerLimits } from "../projects/caller-limits.ts";
import { acquireWithProfile } from "../sessions/acquire-with-profile.ts";
import { type EndSessionDeps, releaseBrowser } from "../sessions/release-browser.ts";
import type { HandOutDeps } from "../sessions/serve-from-pool.ts";
import type { UpdateDeps } from "../sessions/update-browser.ts";
import { profilePermission } from "./profile-permission.ts";

type Deps = HandOutDeps &
  UpdateDeps &
  EndSessionDeps &
  PoolRoomDeps & {
    callerLimits: CallerLimits;
    locks: Locks;
    metrics: ApiMetrics;
  };
const defineRoute = routesWith<Deps>();

const tag = "Browser pools";
const scope = "project";
const path = "/browser_pools/{id_or_name}";

/** Room for a Chrome policy of 5 MiB and the rest of a pool. */
const poolBodyLimit = 6 * 1024 * 1024;

/** A Chrome policy of 5 MiB has lists, and the network's rules up to 18,000 hosts. */
const poolBodyEntries = 150_000;

const PoolParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The pool's id or name.") });
const Pool = { description: "The pool", schema: BrowserPoolAnswer };
const Nothing = { description: "Done" };

// Of the examples.
const poolId = "tz4a98xxat96iws9zmbrgj3a";
const sessionId = "pfh0haxfpzowht3oi213cqos";
const settings = { headless: true, stealth: false, kiosk_mode: false };

export const createPoolRoute = defineRoute(
  {
    method: "post",
    path: "/browser_pools",
    operationId: "createBrowserPool",
    tag,
    scope,
    permission: "pools:write",
    furtherPermissions: [profilePermission],
    summary: "Create a browser pool",
    body: CreateBrowserPool,
    bodyLimit: poolBodyLimit,
    bodyEntries: poolBodyEntries,
    examples: { body: { name: "checkout", size: 5, headless: true, viewport: { width: 1280, height: 800 } } },
    answers: { 200: Pool },
    errors: ["bad_request", "not_found", "name_taken", "payload_too_large"],
  },
  async ({ body, project, deps }) => ({ status: 200, body: await createPool(body, project, deps) }),
);

export const listPoolsRoute = defineRoute(
  {
    method: "get",
    path: "/browser_pools",
    operationId: "listBrowserPools",
    tag,
    scope,
    permission: "pools:read",
    summary: "List browser pools, without Chrome policies above 16 KiB",
    query: Paging.extend({
      name: z.string().max(255).optional().describe("Only the pool of exactly this name."),
      query: z.string().max(255).optional().describe("Part of the name in any case, or the exact id."),
      region: BrowserPoolSpec.shape.region.unwrap().optional().describe("Only pools of this region."),
    }),
    answers: { 200: { description: "The pools", schema: z.array(BrowserPoolAnswer) } },
    errors: ["bad_request"],
  },
  async ({ query, project, deps }) => {
    const pools = (await fetchPools(project, deps)).filter(
      (pool) =>
        isWanted({ id: pool.metadata.name, name: wireName(pool) }, query) &&
        (query.region === undefined || pool.spec.region === query.region),
    );
    const page = pageOf(pools, query);
    return { ...page, body: await describePools(page.body, deps) };
  },
);

export const getPoolRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getBrowserPool",
    tag,
    scope,
    permission: "pools:read",
    summary: "Get a browser pool",
    params: PoolParams,
    examples: {
      answer: {
        id: poolId,
        name: "checkout",
        region: "us-east",
        created_at: "2026-01-02T03:04:05.678Z",
        acquired_count: 1,
        available_count: 4,
        starting_count: 0,
        waiting_count: 0,
        conditions: [
          {
            ...{ type: "Ready", status: "True", reason: "Filled", message: "5 of 5 browsers up" },
            ...{ observed_generation: 1, last_transition_time: "2026-01-02T03:04:09.012Z" },
          },
        ],
        extension_ids: [],
        browser_pool_config: {
          ...settings,
          name: "checkout",
          size: 5,
          fill_rate_per_minute: 25,
          timeout_seconds: 600,
          memory: "8GiB",
          viewport: { width: 1280, height: 800 },
        },
      },
    },
    answers: { 200: Pool },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => ({
    status: 200,
    body: await describePool(await fetchPool(params.id_or_name, project, deps), deps),
  }),
);

export const updatePoolRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateBrowserPool",
    tag,
    scope,
    permission: "pools:write",
    furtherPermissions: [profilePermission],
    summary: "Change a browser pool",
    params: PoolParams,
    body: UpdateBrowserPool,
    bodyLimit: poolBodyLimit,
    bodyEntries: poolBodyEntries,
    examples: { body: { size: 10, discard_all_idle: true } },
    answers: { 200: Pool },
    errors: ["bad_request", "not_found", "name_taken", "stale_network", "read_only", "payload_too_large"],
  },
  async ({ params, body, project, deps }) => ({
    status: 200,
    body: await updatePool({ idOrName: params.id_or_name, request: body }, project, deps),
  }),
);

export const deletePoolRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteBrowserPool",
    tag,
    scope,
    permission: "pools:write",
    summary: "Delete a browser pool and its browsers",
    params: PoolParams,
    body: z.object({ force: z.boolean().default(false).describe("Also when browsers are acquired, which ends them.") }),
    answers: { 204: Nothing },
    errors: ["not_found", "pool_in_use", "read_only"],
  },
  async ({ params, body, project, deps }) => {
    await deletePool({ idOrName: params.id_or_name, force: body.force }, project, deps);
    return { status: 204 };
  },
);

export const acquireRoute = defineRoute(
  {
    method: "post",
    path: `${path}/acquire`,
    operationId: "acquireBrowser",
    tag,
    scope,
    permission: "browsers:use",
    summary: "Acquire a browser; waits for one, first come first served",
    params: PoolParams,
    body: AcquireBrowser,
    examples: {
      body: { acquire_timeout_seconds: 30, name: "order-4711", tags: { team: "shop" } },
      answer: {
        ...settings,
        session_id: sessionId,
        region: "us-east",
        cdp_ws_url: `ws://127.0.0.1:8080/gateway/${sessionId}/cdp?jwt=eyJhbGciOiJFZERTQSJ9`,
        webdriver_ws_url: `ws://127.0.0.1:8080/gateway/${sessionId}/webdriver?jwt=eyJhbGciOiJFZERTQSJ9`,
        base_url: `http://127.0.0.1:8080/gateway/${sessionId}`,
        created_at: "2026-01-02T03:04:05.678Z",
        timeout_seconds: 600,
        gpu: false,
        name: "order-4711",
        tags: { team: "shop" },
        viewport: { width: 1280, height: 800 },
        pool: { id: poolId, name: "checkout" },
      },
    },
    answers: { 200: { description: "The browser", schema: Session }, 204: { description: "No browser in time" } },
    errors: ["bad_request", "not_supported_here", "not_found", "name_taken", "conflict"],
    furtherPermissions: [profilePermission],
  },
  async ({ params, body, principal, project, baseUrl, deps, signal }) => {
    const handedOut = await acquireWithProfile(
      { idOrName: params.id_or_name, request: body, project, principal, keyId: principal.keyId, baseUrl },
      deps,
      signal,
    );
    return handedOut ? { status: 200, body: handedOut.session, undelivered: handedOut.abandon } : { status: 204 };
  },
);

export const releaseRoute = defineRoute(
  {
    method: "post",
    path: `${path}/release`,
    operationId: "releaseBrowser",
    tag,
    scope,
    permission: "browsers:use",
    alsoLeaving: true,
    summary: "Give a browser back",
    params: PoolParams,
    body: ReleaseBrowser,
    examples: { body: { session_id: sessionId, reuse: true } },
    answers: { 204: Nothing },
    errors: ["bad_request", "not_found"],
  },
  async ({ params, body, project, deps }) => {
    await releaseBrowser({ idOrName: params.id_or_name, request: body }, project, deps);
    return { status: 204 };
  },
);

export const flushRoute = defineRoute(
  {
    method: "post",
    path: `${path}/flush`,
    operationId: "flushBrowserPool",
    tag,
    scope,
    permission: "pools:write",
    summary: "Destroy all idle browsers of a pool",
    params: PoolParams,
    answers: { 204: Nothing },
    errors: ["not_found", "read_only"],
  },
  async ({ params, project, deps }) => {
    await flushPool(params.id_or_name, project, deps);
    return { status: 204 };
  },
);

export const listPoolQueueRoute = defineRoute(
  {
    method: "get",
    path: `${path}/queue`,
    operationId: "listBrowserPoolQueue",
    tag,
    scope,
    permission: "pools:read",
    summary: "List the callers that wait for a browser of a pool, the next one first; 100 at most",
    params: PoolParams,
    answers: { 200: { description: "The callers", schema: z.array(QueuedSession) } },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => ({
    status: 200,
    body: await poolQueue(await fetchPool(params.id_or_name, project, deps), deps),
  }),
);

export const listPoolEventsRoute = defineRoute(
  {
    method: "get",
    path: `${path}/events`,
    operationId: "listBrowserPoolEvents",
    tag,
    scope,
    permission: "pools:read",
    summary: "List what Kubernetes says of a pool, and what it warns of its pods, the latest first; 100 at most",
    params: PoolParams,
    answers: { 200: { description: "The Events", schema: z.array(PoolEvent) } },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => ({
    status: 200,
    body: await poolEvents(await fetchPool(params.id_or_name, project, deps), deps),
  }),
);
