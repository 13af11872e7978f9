import { z } from "zod";
import type { ApiKeys } from "../../../core/api-keys/api-keys.ts";
import { routesWith } from "../../../core/http/route.ts";
import type { AgentClient } from "../../../core/leases/agent/agent-client.ts";
import type { SetupClient } from "../../../core/leases/agent/setup-client.ts";
import type { AgentKeys } from "../../../core/protocol/agent-key.ts";
import type { AgentTokens } from "../../../core/protocol/agent-token.ts";
import type { FindSessionDeps } from "../../../core/sessions/find-session.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import { fillItem } from "../fill/fill-item.ts";
import { FillAnswer, FillItem } from "../fill/fill-wire.ts";
import { noteRefusedFill } from "../fill/note-refused-fill.ts";
import type { ItemEvents } from "./item-events.ts";
import type { ItemPath } from "./items.ts";

type Deps = FindSessionDeps & {
  agentKeys: AgentKeys;
  agentTokens: AgentTokens;
  agents: AgentClient;
  apiKeys: ApiKeys;
  itemEvents: ItemEvents;
  log: Logger;
  secretsKeys: SecretsKeys;
  setupClient: SetupClient;
};
const defineRoute = routesWith<Deps>();

const ItemParams = z.object({
  id_or_name: z.string().min(1).max(255).describe("The vault's id or name."),
  key: z.string().min(1).max(255).describe("The item's key."),
});

const pathOf = ({ id_or_name, key }: z.output<typeof ItemParams>): ItemPath => ({ vault: id_or_name, key });

export const runItemOperationRoute = defineRoute(
  {
    method: "post",
    path: "/vaults/{id_or_name}/items/{key}/operations",
    operationId: "runVaultItemOperation",
    tag: "Vaults",
    scope: "project",
    permission: "vaults:fill",
    summary: "Fill values of an item into fields of a page",
    params: ItemParams,
    body: FillItem,
    answers: { 200: { description: "The result of each field", schema: FillAnswer } },
    errors: [
      "not_found",
      "vault_not_attached",
      "item_unavailable",
      "field_unavailable",
      "page_not_found",
      "page_ambiguous",
      "invalid_selector",
      "element_not_found",
      "ambiguous_selector",
      "element_not_editable",
      "duplicate_target",
      "origin_not_allowed",
      "browser_not_ready",
      "fill_in_progress",
    ],
    errorsAfterLookup: [
      "vault_not_attached",
      "item_unavailable",
      "field_unavailable",
      "page_not_found",
      "page_ambiguous",
      "invalid_selector",
      "element_not_found",
      "ambiguous_selector",
      "element_not_editable",
      "duplicate_target",
      "origin_not_allowed",
      "browser_not_ready",
      "fill_in_progress",
    ],
    outcomeOf: (answer) => FillAnswer.safeParse(answer).data?.status,
    onInvalid: ({ params, project, principal, deps }, code) =>
      noteRefusedFill({ path: pathOf(params), project, principal, code }, deps),
  },
  async ({ params, body, project, principal, arrivedAtMs, deps, signal }) => {
    const input = { path: pathOf(params), request: body, project, principal, arrivedAtMs };
    return { status: 200, body: await fillItem(input, deps, signal) };
  },
);
