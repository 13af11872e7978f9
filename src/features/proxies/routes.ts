import { z } from "zod";
import { Paging, pageOf } from "../../core/http/paging.ts";
import { routesWith } from "../../core/http/route.ts";
import type { LeaseStore } from "../../core/leases/lease-store.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { SecretsKeys } from "../../platform/secrets/sealing.ts";
import { checkProxy, createProxy, deleteProxy, fetchProxy, listProxies, renameProxy } from "./proxies.ts";
import type { ProxyChecks } from "./proxy-checks.ts";
import { CheckProxy, CreateProxy, ProxyAnswer, UpdateProxy } from "./proxy-wire.ts";
import { proxyAnswer } from "./rules/proxy-answer.ts";
import type { ProxyProvider } from "./rules/proxy-provider.ts";

type Deps = {
  kube: Kube;
  proxyChecks: ProxyChecks;
  proxyProvider: ProxyProvider;
  secretsKeys: SecretsKeys;
  store: LeaseStore;
};
const defineRoute = routesWith<Deps>();

const tag = "Proxies";
const scope = "project";
const path = "/proxies/{id_or_name}";

const ProxyParams = z.object({
  id_or_name: z.string().min(1).max(255).describe("The proxy's id, or its name where no other proxy has it."),
});
const theProxy = { description: "The proxy, without its secrets", schema: ProxyAnswer };

export const createProxyRoute = defineRoute(
  {
    method: "post",
    path: "/proxies",
    operationId: "createProxy",
    tag,
    scope,
    permission: "pools:write",
    summary: "Create a proxy",
    body: CreateProxy,
    examples: {
      body: {
        type: "custom",
        name: "office",
        protocol: "http",
        bypass_hosts: ["*.corp.example"],
        config: { host: "proxy.corp.example", port: 3128, username: "browsers", password: "change-me" },
      },
    },
    answers: { 201: theProxy },
    errors: ["bad_request", "not_supported_here"],
  },
  async ({ body, project, deps }) => ({ status: 201, body: await createProxy(body, project, deps) }),
);

export const listProxiesRoute = defineRoute(
  {
    method: "get",
    path: "/proxies",
    operationId: "listProxies",
    tag,
    scope,
    permission: "pools:read",
    summary: "List proxies",
    query: Paging.extend({
      name: z.string().max(255).optional().describe("Only proxies of this name, in any case and with any accents."),
      query: z.string().max(255).optional().describe("Part of the name, host or address in any case, or the exact id."),
    }),
    answers: { 200: { description: "The proxies, without their secrets", schema: z.array(ProxyAnswer) } },
    errors: ["bad_request"],
  },
  async ({ query, project, deps }) => {
    const page = pageOf(await listProxies(query, project, deps), query);
    return { ...page, body: page.body.map((proxy) => proxyAnswer(proxy, deps.proxyProvider)) };
  },
);

export const getProxyRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getProxy",
    tag,
    scope,
    permission: "pools:read",
    summary: "Get a proxy",
    params: ProxyParams,
    answers: { 200: theProxy },
    errors: ["ambiguous_proxy_name", "not_found"],
  },
  async ({ params, project, deps }) => ({
    status: 200,
    body: proxyAnswer(await fetchProxy(params.id_or_name, project, deps), deps.proxyProvider),
  }),
);

export const updateProxyRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateProxy",
    tag,
    scope,
    permission: "pools:write",
    summary: "Rename a proxy",
    params: ProxyParams,
    body: UpdateProxy,
    answers: { 200: theProxy },
    errors: ["bad_request", "ambiguous_proxy_name", "not_found"],
  },
  async ({ params, body, project, deps }) => ({
    status: 200,
    body: proxyAnswer(
      await renameProxy({ idOrName: params.id_or_name, name: body.name }, project, deps),
      deps.proxyProvider,
    ),
  }),
);

export const deleteProxyRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteProxy",
    tag,
    scope,
    permission: "pools:write",
    summary: "Delete a proxy and its secrets",
    params: ProxyParams,
    answers: { 204: { description: "Done" } },
    errors: ["ambiguous_proxy_name", "not_found", "conflict"],
  },
  async ({ params, project, deps }) => {
    await deleteProxy(params.id_or_name, project, deps);
    return { status: 204 };
  },
);

export const checkProxyRoute = defineRoute(
  {
    method: "post",
    path: `${path}/check`,
    operationId: "checkProxy",
    tag,
    scope,
    permission: "pools:write",
    summary: "Check whether a proxy works",
    params: ProxyParams,
    body: CheckProxy.optional(),
    answers: { 200: { description: "The proxy with what the check has found", schema: ProxyAnswer } },
    errors: ["bad_request", "not_supported_here", "ambiguous_proxy_name", "not_found", "conflict", "rate_limited"],
  },
  async ({ params, body, project, deps, signal }) => ({
    status: 200,
    body: await checkProxy({ idOrName: params.id_or_name, request: body, project }, deps, signal),
  }),
);
