import { LookupAnswer, LookupRequest } from "../../resources/registry-wire.ts";
import { lookupSite } from "../../services/registry/lookup-site.ts";
import { defineRoute } from "../route.ts";

const tag = "Config registry";
const scope = "project";

export const lookupSiteRoute = defineRoute(
  {
    method: "post",
    path: "/config-registry/lookup",
    operationId: "lookupConfigRegistry",
    tag,
    scope,
    permission: "registry:read",
    summary: "Which browser settings and proxy reach a URL",
    body: LookupRequest,
    onlyReads: true,
    answers: { 200: { description: "What is known of the target", schema: LookupAnswer } },
    errors: ["bad_request"],
  },
  async ({ body, deps }) => ({ status: 200, body: lookupSite(body, deps) }),
);
