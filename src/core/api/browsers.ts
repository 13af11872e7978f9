import { z } from "zod";
import { AppError } from "../../platform/base/errors.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import type { Principal } from "../api-keys/api-keys.ts";
import { Paging, pageHeaders } from "../http/paging.ts";
import { routesWith } from "../http/route.ts";
import type { SetupClient } from "../leases/agent/setup-client.ts";
import type { EndedLeases } from "../leases/ended-leases.ts";
import type { ApiMetrics } from "../metrics/api-metrics.ts";
import { CreateBrowser, UpdateBrowser } from "../model/browsers/browser-wire.ts";
import { Session } from "../model/sessions/session-wire.ts";
import type { SessionRoom } from "../reservations/session-room.ts";
import type { AbandonedBrowsers } from "../sessions/abandoned-browsers.ts";
import { mayUse } from "../sessions/authorize-session.ts";
import { createBrowser } from "../sessions/create-browser.ts";
import { type FindSessionDeps, findSession } from "../sessions/find-session.ts";
import { listSessions } from "../sessions/list-sessions.ts";
import { type EndSessionDeps, endSession } from "../sessions/release-browser.ts";
import type { HandOutDeps } from "../sessions/serve-from-pool.ts";
import { listedSessionAnswer, sessionAnswer } from "../sessions/session-answer.ts";
import { updateBrowser } from "../sessions/update-browser.ts";
import type { Referents } from "../setups/referents.ts";
import { profilePermission, saveProfilePermission } from "./profile-permission.ts";

type Deps = HandOutDeps &
  EndSessionDeps &
  FindSessionDeps & {
    abandonedBrowsers: AbandonedBrowsers;
    blobs: BlobStore;
    endedLeases: EndedLeases;
    locks: Locks;
    metrics: ApiMetrics;
    referents: Referents;
    sessionRoom: SessionRoom;
    setAside: string | undefined;
    setupClient: SetupClient;
  };
const defineRoute = routesWith<Deps>();

const tag = "Browsers";
const scope = "project";
const path = "/browsers/{id_or_name}";

/** The network's rules have up to 18,000 hosts, and a Chrome policy has 256 KiB. */
const browserBodyEntries = 40_000;

const BrowserParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The session's id or name.") });
/** A session's URLs open its browser, so only keys that may use it see them (AUTH-13). */
const linksBase = (lease: Parameters<typeof mayUse>[0], principal: Principal, baseUrl: string): string | undefined =>
  mayUse(lease, principal) ? baseUrl : undefined;

const flag = z.enum(["true", "false"]).optional();

export const listBrowsersRoute = defineRoute(
  {
    method: "get",
    path: "/browsers",
    operationId: "listBrowsers",
    tag,
    scope,
    permission: "pools:read",
    alsoLeaving: true,
    summary: "List browser sessions, without Chrome policies above 16 KiB",
    query: Paging.extend({
      status: z
        .enum(["active", "deleted", "all"])
        .optional()
        .describe(
          "Which sessions: active ones by their begin, then ended ones by their end, the latest first. Ended ones are kept for a day, or until newer ones need their room.",
        ),
      include_deleted: flag.describe("Deprecated: use status=all."),
      query: z
        .string()
        .max(255)
        .optional()
        .describe(
          "Part of the session's or its pool's name, or the exact id. Of ended sessions, query and tags search the latest 5000; the header X-Search-Cut: true says that there were more.",
        ),
      tags: z
        .record(z.string().regex(/^[^\]]+$/), z.string())
        .optional()
        .describe("Only sessions with all these tags: tags[team]=a."),
    }),
    answers: { 200: { description: "The sessions", schema: z.array(Session) } },
    errors: ["bad_request"],
  },
  async ({ query, project, principal, baseUrl, deps }) => {
    const status = query.status ?? (query.include_deleted === "true" ? "all" : "active");
    const { leases, hasMore, isCut } = await listSessions({ ...query, status }, project, deps);
    const body: Session[] = [];
    // One after the other: the configuration of a session has up to 256 KiB.
    for (const lease of leases) body.push(await listedSessionAnswer(lease, linksBase(lease, principal, baseUrl), deps));
    return { status: 200, body, headers: { ...pageHeaders(hasMore, query), ...(isCut && { "X-Search-Cut": "true" }) } };
  },
);

export const createBrowserRoute = defineRoute(
  {
    method: "post",
    path: "/browsers",
    operationId: "createBrowser",
    tag,
    scope,
    permission: "browsers:use",
    summary: "Start a browser on demand",
    body: CreateBrowser,
    bodyEntries: browserBodyEntries,
    answers: { 200: { description: "The session; its browser is up", schema: Session } },
    errors: ["bad_request", "not_found", "name_taken", "too_many_requests", "browser_not_started"],
    // An attached vault opens its items to fills, whoever holds the browser.
    furtherPermissions: [
      profilePermission,
      saveProfilePermission,
      {
        permission: "vaults:fill",
        when: "the body has `vaults`",
        applies: ({ vaults = [] }: CreateBrowser) => vaults.length > 0,
      },
    ],
  },
  async ({ body, project, baseUrl, deps, signal }) => {
    const { session, abandon } = await createBrowser({ request: body, project, baseUrl }, deps, signal);
    return { status: 200, body: session, undelivered: abandon };
  },
);

export const updateBrowserRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateBrowser",
    tag,
    scope,
    permission: "browsers:use",
    summary: "Change a browser session",
    params: BrowserParams,
    body: UpdateBrowser,
    answers: { 200: { description: "The session", schema: Session } },
    errors: ["bad_request", "not_supported_here", "not_found", "name_taken", "conflict", "stale_network"],
    furtherPermissions: [profilePermission],
  },
  async ({ params, body, project, principal, baseUrl, deps }) => {
    const lease = await updateBrowser({ idOrName: params.id_or_name, request: body, principal }, project, deps);
    return { status: 200, body: await sessionAnswer(lease, baseUrl, deps) };
  },
);

export const getBrowserRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getBrowser",
    tag,
    scope,
    permission: "pools:read",
    alsoLeaving: true,
    summary: "Get a browser session",
    params: BrowserParams,
    query: z.object({ include_deleted: flag.describe("Also an ended session, for a day after its end.") }),
    answers: { 200: { description: "The session", schema: Session } },
    errors: ["not_found"],
  },
  async ({ params, query, project, principal, baseUrl, deps }) => {
    const includeEnded = query.include_deleted === "true";
    const { lease } = await findSession(params.id_or_name, { project, includeEnded }, deps);
    return { status: 200, body: await sessionAnswer(lease, linksBase(lease, principal, baseUrl), deps) };
  },
);

export const deleteBrowserRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteBrowser",
    tag,
    scope,
    permission: "browsers:use",
    alsoLeaving: true,
    summary: "End a browser session and destroy its browser",
    params: BrowserParams,
    answers: { 204: { description: "Done" } },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => {
    const { lease, poolUid } = await findSession(params.id_or_name, { project }, deps);
    const ended = await endSession({ poolUid, session: lease.session, reuse: "none", reason: "deleted" }, deps);
    if (!ended) throw new AppError("not_found", `no browser ${params.id_or_name} in this project`);
    return { status: 204 };
  },
);
