import { z } from "zod";
import type { Config } from "../../../core/config/config.ts";
import { Paging, pageOf } from "../../../core/http/paging.ts";
import { routesWith } from "../../../core/http/route.ts";
import type { Projects } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import type { ProviderLookups } from "./lookups.ts";
import { CreateProvider, ProviderAnswer, ProviderItems, ProviderTest, UpdateProvider } from "./provider.ts";
import {
  createProvider,
  deleteProvider,
  fetchProvider,
  listProviderItems,
  listProviders,
  providerAnswer,
  testProvider,
  updateProvider,
} from "./providers.ts";

type Deps = {
  config: Config;
  kube: Kube;
  locks: Locks;
  projects: Projects;
  providerLookups: ProviderLookups;
  secretsKeys: SecretsKeys;
};
const defineRoute = routesWith<Deps>();

const tag = "Credential providers";
const scope = "organization";
const permission = "organization";
const path = "/org/credential_providers/{id}";

const ProviderParams = z.object({ id: z.string().min(1).max(255).describe("The provider's id.") });
const theProvider = { description: "The provider, without its token", schema: ProviderAnswer };

const createProviderRoute = defineRoute(
  {
    method: "post",
    path: "/org/credential_providers",
    operationId: "createCredentialProvider",
    tag,
    scope,
    permission,
    summary: "Have logins take their values from a store outside of the service",
    body: CreateProvider,
    examples: {
      body: {
        name: "team-logins",
        provider_type: "kubernetes",
        token: "eyJhbGciOiJSUzI1NiJ9.of-a-service-account.signature",
        namespace: "team-logins",
      },
    },
    answers: { 201: theProvider },
    errors: ["bad_request", "not_supported_here", "name_taken", "conflict"],
  },
  async ({ body, deps }) => ({ status: 201, body: await createProvider(body, deps) }),
);

const listProvidersRoute = defineRoute(
  {
    method: "get",
    path: "/org/credential_providers",
    operationId: "listCredentialProviders",
    tag,
    scope,
    permission,
    summary: "List credential providers in the order in which logins look in them",
    query: Paging.extend({
      query: z.string().max(255).optional().describe("Part of the name in any case, or the exact id."),
    }),
    answers: { 200: { description: "The providers, without their tokens", schema: z.array(ProviderAnswer) } },
    errors: ["bad_request"],
  },
  async ({ query, deps }) => pageOf(await listProviders(query, deps), query),
);

const getProviderRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getCredentialProvider",
    tag,
    scope,
    permission,
    summary: "Get a credential provider",
    params: ProviderParams,
    answers: { 200: theProvider },
    errors: ["not_found"],
  },
  async ({ params, deps }) => ({ status: 200, body: providerAnswer(await fetchProvider(params.id, deps)) }),
);

const updateProviderRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateCredentialProvider",
    tag,
    scope,
    permission,
    summary: "Change a credential provider, or give it another token",
    params: ProviderParams,
    body: UpdateProvider,
    answers: { 200: theProvider },
    errors: ["bad_request", "not_supported_here", "not_found", "name_taken"],
  },
  async ({ params, body, deps }) => ({ status: 200, body: await updateProvider(params.id, body, deps) }),
);

const deleteProviderRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteCredentialProvider",
    tag,
    scope,
    permission,
    summary: "Delete a credential provider and its token",
    params: ProviderParams,
    answers: { 204: { description: "Done" } },
    errors: ["not_found"],
  },
  async ({ params, deps }) => {
    await deleteProvider(params.id, deps);
    return { status: 204 };
  },
);

const listProviderItemsRoute = defineRoute(
  {
    method: "get",
    path: `${path}/items`,
    operationId: "listCredentialProviderItems",
    tag,
    scope,
    permission,
    summary: "List the logins that a credential provider has, without their values",
    params: ProviderParams,
    answers: { 200: { description: "The items", schema: ProviderItems } },
    errors: ["not_found", "conflict"],
  },
  async ({ params, deps }) => ({ status: 200, body: { items: await listProviderItems(params.id, deps) } }),
);

const testProviderRoute = defineRoute(
  {
    method: "post",
    path: `${path}/test`,
    operationId: "testCredentialProvider",
    tag,
    scope,
    permission,
    summary: "Try whether a credential provider lets in",
    onlyReads: true,
    params: ProviderParams,
    answers: { 200: { description: "What came of it", schema: ProviderTest } },
    errors: ["not_found"],
  },
  async ({ params, deps }) => ({ status: 200, body: await testProvider(params.id, deps) }),
);

/** Operations of credential providers, in the order of the documentation. */
export const providerRoutes = [
  createProviderRoute,
  listProvidersRoute,
  getProviderRoute,
  updateProviderRoute,
  deleteProviderRoute,
  listProviderItemsRoute,
  testProviderRoute,
];
