import { z } from "zod";
import type { Kube } from "../../platform/kube/client.ts";
import type { ApiKeys } from "../api-keys/api-keys.ts";
import { apiKeyId, daysUntil, deleteApiKey, rotateApiKey, updateApiKey } from "../api-keys/change-api-key.ts";
import { createApiKey } from "../api-keys/create-api-key.ts";
import { getApiKey, listApiKeys, viewApiKey } from "../api-keys/list-api-keys.ts";
import type { Config } from "../config/config.ts";
import { Paging, pageOf } from "../http/paging.ts";
import { routesWith } from "../http/route.ts";
import type { Projects } from "../projects/projects.ts";
import {
  ApiKeyWire,
  apiKeyAnswer,
  CreateApiKey,
  CreatedApiKeyWire,
  flag,
  RotateApiKey,
  UpdateApiKey,
} from "./org-wire.ts";

type Deps = { apiKeys: ApiKeys; config: Config; kube: Kube; projects: Projects };
const defineRoute = routesWith<Deps>();

const tag = "API keys";
const scope = "organization";
const path = "/org/api_keys/{id}";

/** Default number of days for which a rotated key still works. */
const defaultGraceDays = 7;

const ApiKeyParams = z.object({
  id: z.string().min(1).max(255).describe("The key's id, or its name where no other key has it."),
});
const ApiKey = { description: "The API key, masked", schema: ApiKeyWire };
const NewApiKey = { description: "The API key; the key itself is shown only here", schema: CreatedApiKeyWire };

export const createApiKeyRoute = defineRoute(
  {
    method: "post",
    path: "/org/api_keys",
    operationId: "createApiKey",
    tag,
    scope,
    permission: "organization",
    summary: "Create an API key",
    body: CreateApiKey,
    answers: { 201: NewApiKey },
    errors: ["bad_request", "project_not_found"],
  },
  async ({ body: { name, project_id, days_to_expire, expires_at, permissions }, principal, deps }) => {
    const daysToExpire = expires_at ? daysUntil(expires_at, principal, deps) : (days_to_expire ?? undefined);
    const given = { name, projectId: project_id ?? undefined, daysToExpire };
    const wanted = { ...given, permissions: permissions ?? undefined, createdBy: principal.keyId };
    const { record, key } = await createApiKey(wanted, deps);
    return { status: 201, body: { ...apiKeyAnswer(viewApiKey(record, deps)), key } };
  },
);

export const listApiKeysRoute = defineRoute(
  {
    method: "get",
    path: "/org/api_keys",
    operationId: "listApiKeys",
    tag,
    scope,
    permission: "organization",
    summary: "List API keys",
    query: Paging.extend({
      name: z.string().max(255).optional().describe("Only keys of exactly this name."),
      query: z
        .string()
        .max(255)
        .optional()
        .describe("Part of the key's, its creator's or its project's name in any case; start of its id or masked key."),
      status: z
        .enum(["active", "deleted", "all"])
        .optional()
        .describe("Expired keys that are not deleted count as active, which is the default."),
      include_deleted: flag.optional().describe("Deprecated: use status=all."),
      sort_by: z.enum(["created_at", "name", "expires_at"]).default("created_at").describe("What to sort by."),
      sort_direction: z.enum(["asc", "desc"]).default("desc").describe("Which way to sort."),
    }),
    answers: { 200: { description: "The API keys, masked", schema: z.array(ApiKeyWire) } },
    errors: ["bad_request"],
  },
  async ({ query, deps }) => {
    const { name, sort_by: sortBy, sort_direction: direction } = query;
    const status = query.status ?? (query.include_deleted ? "all" : "active");
    const page = pageOf(listApiKeys({ name, query: query.query, status, sortBy, direction }, deps), query);
    return { ...page, body: page.body.map(apiKeyAnswer) };
  },
);

export const getApiKeyRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getApiKey",
    tag,
    scope,
    permission: "organization",
    summary: "Get an API key",
    params: ApiKeyParams,
    query: z.object({ include_deleted: flag.optional().describe("Also a deleted key.") }),
    answers: { 200: ApiKey },
    errors: ["bad_request", "ambiguous_api_key_name", "not_found"],
  },
  async ({ params, query, deps }) => ({
    status: 200,
    body: apiKeyAnswer(getApiKey(apiKeyId(params.id, deps), query.include_deleted ?? false, deps)),
  }),
);

export const updateApiKeyRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateApiKey",
    tag,
    scope,
    permission: "organization",
    summary: "Change the name or the permissions of an API key",
    params: ApiKeyParams,
    body: UpdateApiKey,
    answers: { 200: ApiKey },
    errors: ["bad_request", "ambiguous_api_key_name", "not_found", "conflict"],
  },
  async ({ params, body, principal, deps }) => ({
    status: 200,
    body: apiKeyAnswer(
      viewApiKey(await updateApiKey(apiKeyId(params.id, deps), { ...body, updatedBy: principal.keyId }, deps), deps),
    ),
  }),
);

export const deleteApiKeyRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteApiKey",
    tag,
    scope,
    permission: "organization",
    summary: "Delete an API key; it stops working at once",
    params: ApiKeyParams,
    answers: { 204: { description: "Done" } },
    errors: ["ambiguous_api_key_name", "not_found", "conflict"],
  },
  async ({ params, principal, deps }) => {
    await deleteApiKey(apiKeyId(params.id, deps), principal.keyId, deps);
    return { status: 204 };
  },
);

export const rotateApiKeyRoute = defineRoute(
  {
    method: "post",
    path: `${path}/rotate`,
    operationId: "rotateApiKey",
    tag,
    scope,
    permission: "organization",
    summary: "Replace an API key by a new one; the old one still works for a while",
    params: ApiKeyParams,
    body: RotateApiKey,
    answers: { 201: NewApiKey },
    errors: ["bad_request", "ambiguous_api_key_name", "not_found", "project_not_found"],
  },
  async ({ params, body, principal, deps }) => {
    const graceDays = body.expire_in_days ?? defaultGraceDays;
    const rotation = { daysToExpire: body.days_to_expire, graceDays, rotatedBy: principal.keyId };
    const { record, key } = await rotateApiKey(apiKeyId(params.id, deps), rotation, deps);
    return { status: 201, body: { ...apiKeyAnswer(viewApiKey(record, deps)), key } };
  },
);
