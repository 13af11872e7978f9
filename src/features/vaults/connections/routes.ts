import type { KeyObject } from "node:crypto";
import { z } from "zod";
import { isWanted, Paging, pageOf } from "../../../core/http/paging.ts";
import { routesWith } from "../../../core/http/route.ts";
import type { FindSessionDeps } from "../../../core/sessions/find-session.ts";
import type { SessionAnswerDeps } from "../../../core/sessions/session-answer.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { OwnLogins } from "../own-logins/own-logins.ts";
import { ConnectionAnswer, CreateConnection, LoginAnswer, LoginRequest, UpdateConnection } from "./auth-connection.ts";
import {
  connectionAnswer,
  createConnection,
  deleteConnection,
  describeConnection,
  fetchConnection,
  fetchConnections,
  startLogin,
  updateConnection,
} from "./connections.ts";

type Deps = SessionAnswerDeps &
  FindSessionDeps & { kube: Kube; locks: Locks; ownLogins: OwnLogins; signingKey: KeyObject };
const defineRoute = routesWith<Deps>();

const tag = "Auth connections";
const scope = "project";
const path = "/auth/connections/{id}";

const ConnectionParams = z.object({ id: z.string().min(1).max(253).describe("The connection's id.") });
const theConnection = { description: "The connection", schema: ConnectionAnswer };

export const createConnectionRoute = defineRoute(
  {
    method: "post",
    path: "/auth/connections",
    operationId: "createAuthConnection",
    tag,
    scope,
    permission: "credentials:write",
    summary: "Create a connection of a profile to a domain",
    body: CreateConnection,
    examples: { body: { domain: "shop.example", profile_name: "alice", credential: { name: "shop" } } },
    answers: { 201: theConnection },
    errors: ["bad_request", "not_supported_here", "conflict"],
  },
  async ({ body, project, deps }) => ({ status: 201, body: await createConnection(body, project, deps) }),
);

export const listConnectionsRoute = defineRoute(
  {
    method: "get",
    path: "/auth/connections",
    operationId: "listAuthConnections",
    tag,
    scope,
    permission: "vaults:read",
    summary: "List connections",
    query: Paging.extend({
      domain: z.string().max(260).optional().describe("Only connections to this domain."),
      profile_name: z.string().max(255).optional().describe("Only connections of this profile."),
      query: z.string().max(260).optional().describe("Part of the domain or the profile in any case, or the exact id."),
    }),
    answers: { 200: { description: "The connections", schema: z.array(ConnectionAnswer) } },
    errors: ["bad_request"],
  },
  async ({ query: { domain, profile_name, query, ...paging }, project, deps }) => {
    const connections = (await fetchConnections(project, deps)).filter(
      ({ metadata: { name: id }, spec }) =>
        (domain === undefined || spec.domain.toLowerCase() === domain.toLowerCase()) &&
        (profile_name === undefined || spec.profileName === profile_name) &&
        (isWanted({ id, name: spec.domain }, { query }) || isWanted({ id, name: spec.profileName }, { query })),
    );
    const page = pageOf(connections, paging);
    return { ...page, body: page.body.map(connectionAnswer) };
  },
);

export const getConnectionRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getAuthConnection",
    tag,
    scope,
    permission: "vaults:read",
    summary: "Get a connection",
    params: ConnectionParams,
    answers: { 200: theConnection },
    errors: ["not_found"],
  },
  async ({ params, project, principal, baseUrl, deps }) => {
    const connection = await fetchConnection(params.id, project, deps);
    return { status: 200, body: await describeConnection(connection, { project, principal, baseUrl }, deps) };
  },
);

export const updateConnectionRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateAuthConnection",
    tag,
    scope,
    permission: "credentials:write",
    summary: "Change a connection",
    params: ConnectionParams,
    body: UpdateConnection,
    answers: { 200: theConnection },
    errors: ["bad_request", "not_supported_here", "not_found"],
  },
  async ({ params, body, project, deps }) => ({
    status: 200,
    body: await updateConnection({ id: params.id, request: body }, project, deps),
  }),
);

export const deleteConnectionRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteAuthConnection",
    tag,
    scope,
    permission: "credentials:write",
    summary: "Delete a connection; its credential stays",
    params: ConnectionParams,
    answers: { 204: { description: "Done" } },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => {
    await deleteConnection(params.id, project, deps);
    return { status: 204 };
  },
);

export const loginRoute = defineRoute(
  {
    method: "post",
    path: `${path}/login`,
    operationId: "loginAuthConnection",
    tag,
    scope,
    permission: "credentials:write",
    summary: "Begin a login; links for an earlier unfinished one end",
    description:
      "With a login_url the service logs in by itself, or joins the login that runs. The hosted page is for a person: without a login_url to hand in the login, else for what the service can't do.",
    params: ConnectionParams,
    body: LoginRequest,
    answers: { 200: { description: "Where to send the person", schema: LoginAnswer } },
    errors: ["bad_request", "not_supported_here", "not_found", "unavailable"],
  },
  async ({ params, body, project, baseUrl, deps }) => ({
    status: 200,
    body: await startLogin({ id: params.id, request: body, project, baseUrl }, deps),
    headers: { "Cache-Control": "no-store" },
  }),
);
