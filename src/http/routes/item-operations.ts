import { z } from "zod";
import { FillAnswer, FillItem } from "../../resources/fill-wire.ts";
import { fillItem } from "../../services/vaults/fill-item.ts";
import { defineRoute } from "../route.ts";

export const runItemOperationRoute = defineRoute(
  {
    method: "post",
    path: "/vaults/{id_or_name}/items/{key}/operations",
    operationId: "runVaultItemOperation",
    tag: "Vaults",
    scope: "project",
    permission: "vaults:fill",
    summary: "Fill values of an item into fields of a page",
    params: z.object({
      id_or_name: z.string().min(1).max(255).describe("The vault's id or name."),
      key: z.string().min(1).max(255).describe("The item's key."),
    }),
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
    // Item and browser are looked up at the same time; `item_unavailable` and `field_unavailable` say nothing of the browser.
    errorsAfterLookup: [
      "vault_not_attached",
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
  },
  async ({ params, body, project, principal, deps, signal }) => {
    const path = { vault: params.id_or_name, key: params.key };
    return { status: 200, body: await fillItem({ path, request: body, project, principal }, deps, signal) };
  },
);
