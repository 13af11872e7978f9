/** `GET /auth/context`: who asks, and where its requests go. */
import { z } from "zod";
import type { Kube } from "../../platform/kube/client.ts";
import type { Config } from "../config/config.ts";
import { routesWith } from "../http/route.ts";
import { fetchOrganizationId } from "../projects/organization-limits.ts";

type Deps = { config: Config; kube: Kube };

const scopeOf = (text: string) => z.object({ project_id: z.string().nullable().describe(text) });

const AuthContextWire = z.object({
  authentication: z.object({
    credential_id: z.string().describe("The id of the API key; of a session of the console, that of its key."),
    method: z.literal("api_key").describe("Always api_key: there are no users."),
    source: z.literal("api_key").describe("Always api_key."),
  }),
  authorization: z.object({
    credential_scope: scopeOf("The project of the key; null: a key of the organization."),
    effective_scope: scopeOf(
      "The project in which a request with these headers works. Operations of the organization have none.",
    ),
  }),
  organization: z.object({
    id: z.string().describe("The installation: the uid of its system namespace."),
  }),
  principal: z.object({
    id: z.string().describe("The id of the API key."),
    type: z.literal("api_key").describe("Always api_key."),
  }),
});

/** For any key: it tells nothing that the key does not have already. */
export const getAuthContextRoute = routesWith<Deps>()(
  {
    method: "get",
    path: "/auth/context",
    operationId: "getAuthContext",
    tag: "API keys",
    scope: "project",
    permission: undefined,
    summary: "Get what a key is for",
    answers: { 200: { description: "The key, its scope, and that of the request", schema: AuthContextWire } },
    errors: [],
  },
  async ({ principal: { keyId, scope }, project, deps }) => {
    const body: z.input<typeof AuthContextWire> = {
      authentication: { credential_id: keyId, method: "api_key", source: "api_key" },
      authorization: {
        credential_scope: { project_id: scope.kind === "project" ? scope.projectId : null },
        effective_scope: { project_id: project.id },
      },
      organization: { id: await fetchOrganizationId(deps) },
      principal: { id: keyId, type: "api_key" },
    };
    return { status: 200, body };
  },
);
