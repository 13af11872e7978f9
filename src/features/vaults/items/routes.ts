import { z } from "zod";
import type { ApiKeys } from "../../../core/api-keys/api-keys.ts";
import { isWanted, Paging, pageOf } from "../../../core/http/paging.ts";
import { routesWith } from "../../../core/http/route.ts";
import type { Projects } from "../../../core/projects/projects.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { itemKey } from "../../../platform/kinds/selector.ts";
import { wireSchema } from "../../../platform/kinds/wire.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import { ItemAnswer, ItemEventAnswer, PutItem } from "../vault.ts";
import { fetchVault } from "../vaults.ts";
import type { ItemEvents } from "./item-events.ts";
import { deleteItem, fetchItem, fetchItems, itemAnswer, itemAnswers, readItemEvents } from "./items.ts";
import { putItem, refuseItemEdit } from "./put-item.ts";

type Deps = {
  apiKeys: ApiKeys;
  itemEvents: ItemEvents;
  kube: Kube;
  locks: Locks;
  log: Logger;
  projects: Projects;
  secretsKeys: SecretsKeys;
};
const defineRoute = routesWith<Deps>();

const tag = "Vaults";
const scope = "project";
const items = "/vaults/{id_or_name}/items";
const path = `${items}/{key}`;

const VaultParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The vault's id or name.") });
const ItemParams = VaultParams.extend({ key: z.string().min(1).max(255).describe("The item's key.") });
const NewItemParams = VaultParams.extend({ key: wireSchema(itemKey).describe("The item's key.") });

type ItemParams = z.output<typeof ItemParams>;
const pathOf = ({ id_or_name, key }: ItemParams) => ({ vault: id_or_name, key });

const theItem = { description: "The item", schema: ItemAnswer };

/** Most events of one answer. */
const maxEvents = 100;

/** The ids of events are ids of a Redis stream: two numbers below 2^64. */
const eventId = /^\d{1,19}-\d{1,19}$/;

// Of the examples.
const connectionId = "k2v9x4c7b1n8m5q3w6e0r2ty";

export const listItemsRoute = defineRoute(
  {
    method: "get",
    path: items,
    operationId: "listVaultItems",
    tag,
    scope,
    permission: "vaults:read",
    summary: "List the items of a vault, without their fields",
    params: VaultParams,
    query: Paging.extend({
      query: z.string().max(255).optional().describe("Part of the key in any case, or the exact id."),
    }),
    answers: { 200: { description: "The items", schema: z.array(ItemAnswer) } },
    errors: ["bad_request", "not_found"],
  },
  async ({ params, query, project, deps }) => {
    const vault = await fetchVault(params.id_or_name, project, deps);
    const wanted = (await fetchItems(vault, project, deps)).filter(({ metadata, spec }) =>
      isWanted({ id: metadata.name, name: spec.key }, query),
    );
    const page = pageOf(wanted, query);
    return { ...page, body: await itemAnswers(page.body, project, deps) };
  },
);

export const putItemRoute = defineRoute(
  {
    method: "put",
    path,
    operationId: "putVaultItem",
    tag,
    scope,
    permission: "vaults:write",
    summary: "Create an item, or get the equal one that exists",
    params: NewItemParams,
    body: PutItem,
    examples: {
      body: {
        type: "credential",
        spec: { provider: "managed_auth", connection_id: connectionId, allowed_origins: ["https://shop.example"] },
      },
    },
    answers: { 200: theItem },
    errors: [
      "bad_request",
      "not_found",
      "conflict",
      "no_saved_credential",
      "connection_in_other_project",
      "external_credential_provider",
    ],
  },
  async ({ params, body, project, principal, deps }) => ({
    status: 200,
    body: await putItem({ path: pathOf(params), request: body, principal }, project, deps),
  }),
);

export const getItemRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getVaultItem",
    tag,
    scope,
    permission: "vaults:read",
    summary: "Get an item with its fields",
    params: ItemParams,
    query: z.object({
      wait: z
        .string()
        .max(20)
        .optional()
        .describe("Seconds to wait until the item is ready: it is from the begin, so of no effect."),
    }),
    examples: {
      answer: {
        id: "gmnqk93f2hr0x0u6c8j1v5ta",
        key: "shop",
        type: "credential",
        version: 1,
        spec: { provider: "managed_auth", connection_id: connectionId, allowed_origins: ["https://shop.example"] },
        state: {
          provider: "managed_auth",
          status: "ready",
          fields: { username: { type: "text" }, password: { type: "password" }, totp: { type: "totp" } },
        },
        available_operations: [{ type: "fill", description: "Writes stored values into fields of an open page." }],
        available_expansions: [],
        created_at: "2026-01-02T03:04:05Z",
        updated_at: "2026-01-02T03:04:05Z",
      },
    },
    answers: { 200: theItem },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => {
    const { item } = await fetchItem(pathOf(params), project, deps);
    return { status: 200, body: await itemAnswer(item, project, deps) };
  },
);

export const updateItemRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateVaultItem",
    tag,
    scope,
    permission: "vaults:write",
    summary: "Refused: items can't be edited",
    params: ItemParams,
    answers: { 200: theItem },
    errors: ["not_found", "conflict"],
  },
  ({ params, project, deps }) => refuseItemEdit(pathOf(params), project, deps),
);

export const deleteItemRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteVaultItem",
    tag,
    scope,
    permission: "vaults:write",
    summary: "Delete an item; its connection and credential stay",
    params: ItemParams,
    answers: { 204: { description: "Done" } },
    errors: ["not_found"],
  },
  async ({ params, project, principal, deps }) => {
    await deleteItem(pathOf(params), { project, principal }, deps);
    return { status: 204 };
  },
);

export const listItemEventsRoute = defineRoute(
  {
    method: "get",
    path: `${path}/events`,
    operationId: "listVaultItemEvents",
    tag,
    scope,
    permission: "vaults:read",
    summary: "List the events of an item, oldest first, without values",
    params: ItemParams,
    query: z.object({
      after: z.string().regex(eventId).optional().describe("Only events after the one of this id."),
      wait: z.coerce.number().min(0).max(30).default(0).describe("Seconds to wait for an event when there is none."),
      limit: z.coerce.number().int().min(1).max(maxEvents).default(maxEvents).describe("Events an answer."),
    }),
    answers: { 200: { description: "The events", schema: z.array(ItemEventAnswer) } },
    errors: ["bad_request", "not_found"],
  },
  async ({ params, query: { after, wait, limit }, project, deps, signal }) => {
    const query = { after, limit, waitMs: wait * 1000 };
    const events = await readItemEvents(pathOf(params), { project, query, signal }, deps);
    // The newest public clients have other names for two fields.
    return { status: 200, body: events.map((event) => ({ ...event, created_at: event.time, name: event.type })) };
  },
);
