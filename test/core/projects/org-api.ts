import Kernel from "@onkernel/sdk";
import { startApi } from "../../../src/cmd/api.ts";
import type { ServiceDeps } from "../../../src/cmd/service-deps.ts";
import { newApiKey } from "../../../src/core/api-keys/api-key-secret.ts";
import { ensureOrganizationKey } from "../../../src/core/bootstrap/initial-key.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import type { Kube } from "../../../src/platform/kube/client.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startOrg } from "./org-parts.ts";

export type Answer = { status: number; body: { code?: string; message?: string; [field: string]: unknown } };

/** `key`: by default the organization's. */
type CallOptions = { body?: unknown; key?: string; headers?: Record<string, string> };

export type OrgApi = {
  url: string;
  /** What the API works with. */
  services: ServiceDeps;
  organizationKey: string;
  defaultProject: string;
  systemNamespace: string;
  kube: Kube;
  /** The public SDK with this key, by default the organization's, without retries. */
  client(apiKey?: string, projectID?: string): Kernel;
  /** A call over HTTP. */
  call(method: string, path: string, more?: CallOptions): Promise<Answer>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** The HTTP API of an organization of its own, as the command `api` starts it. */
export const startOrgApi = async (
  settings: Record<string, string> = {},
  log = createLogger("error", "test"),
): Promise<OrgApi> => {
  const org = await startOrg(settings);
  const { kubeconfigPath } = await sharedServers();
  const api = await startApi({ config: org.config, kubeconfigPath }, log);
  const organizationKey = newApiKey();
  await ensureOrganizationKey({
    kube: org.kube,
    namespace: org.config.systemNamespace,
    key: organizationKey,
    name: "test",
  });
  await eventually("the key is accepted", () => api.services.apiKeys.authenticate(organizationKey) !== undefined);
  return {
    url: api.url,
    services: api.services,
    organizationKey,
    defaultProject: org.config.defaultProject,
    systemNamespace: org.config.systemNamespace,
    kube: org.kube,
    client: (apiKey = organizationKey, projectID) =>
      new Kernel({ baseURL: api.url, apiKey, maxRetries: 0, ...(projectID && { projectID }) }),
    async call(method, path, { body, key = organizationKey, headers = {} } = {}) {
      const response = await fetch(api.url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...headers,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
    },
    async [Symbol.asyncDispose]() {
      await api.stop();
      await org[Symbol.asyncDispose]();
    },
  };
};
