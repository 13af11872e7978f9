/** The HTTP API of an organization of its own and the vault's controllers, on the shared servers. */

import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Kernel from "@onkernel/sdk";
import { startApi } from "../../../src/cmd/api.ts";
import { controllers as objectControllers } from "../../../src/cmd/features.ts";
import { readProxyProvider } from "../../../src/cmd/read-proxy-provider.ts";
import type { ServiceDeps } from "../../../src/cmd/service-deps.ts";
import { newApiKey } from "../../../src/core/api-keys/api-key-secret.ts";
import { ensureOrganizationKey } from "../../../src/core/bootstrap/initial-key.ts";
import { ensureNamespace } from "../../../src/core/bootstrap/system-namespace.ts";
import { readConfig } from "../../../src/core/config/config.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { runObjectControllers } from "../../../src/core/reconcile/run-object-controllers.ts";
import { createDestinationFilter } from "../../../src/features/telemetry/destinations/rules/destination-problems.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import type { BlobStore } from "../../../src/platform/blobs/blob-store.ts";
import { openBlobStore } from "../../../src/platform/blobs/open-blob-store.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { withinNamespaces } from "../../support/within-namespaces.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Body = any;
export type Answer = { status: number; headers: Headers; body: Body };

export type VaultParts = {
  kube: Kube;
  /** What the API works with. */
  services: ServiceDeps;
  /** The namespace of the default project. */
  namespace: string;
  /** The namespaces whose profiles the controllers settle; a test may add one before it makes profiles there. */
  controlled: string[];
  projectId: string;
  /** A second project of the same organization. */
  other: { namespace: string; projectId: string };
  /** The public SDK for a project, by default for the default project. */
  client(projectID?: string): Kernel;
  /** Sends a request unchanged. `project`: by default the default project. */
  call(method: string, path: string, body?: unknown, project?: string): Promise<Answer>;
  /** Log lines of the API and the controllers. */
  logged(): Promise<string>;
  /** The file with the encryption keys. */
  keyFile: string;
  apiKey: string;
  redisUrl: string;
  /** The store of blobs, and its folder. */
  blobs: BlobStore;
  blobsFolder: string;
  /** A second replica of the API. */
  replica(): Promise<(method: string, path: string, body?: unknown) => Promise<Answer>>;
  [Symbol.asyncDispose](): Promise<void>;
};

const caller =
  (url: string, apiKey: string) =>
  async (method: string, path: string, body?: unknown, project?: string): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(project && { "x-kernel-project-id": project }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  };

/** `settings`: further variables of the service's environment. */
type PartsOptions = { encrypted?: boolean; settings?: Record<string, string> };

/** `encrypted`: with a key file; otherwise values are stored as they are. */
export const startVaultParts = async ({ encrypted = false, settings = {} }: PartsOptions = {}): Promise<VaultParts> => {
  await using parts = new AsyncDisposableStack();
  const { kubeconfigPath, redisUrl } = await sharedServers();
  const folder = await mkdtemp(join(tmpdir(), "browserpool-vault-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const keyFile = join(folder, "keys");
  const logFile = join(folder, "log");
  const blobsFolder = join(folder, "blobs");
  await writeFile(keyFile, randomBytes(32).toString("base64"));
  const kube = connectKube({ kubeconfigPath });
  parts.defer(() => kube.close());
  const [own, other] = [await testNamespace(kube), await testNamespace(kube)];
  const controlled = [own.name, other.name];
  const config = readConfig({
    REDIS_URL: redisUrl,
    BROWSERPOOL_PORT: "0",
    BROWSERPOOL_STOP_GRACE_SECONDS: "0.1",
    BROWSERPOOL_AUDIT_LOG: "/dev/null",
    BROWSERPOOL_BLOBS: pathToFileURL(blobsFolder).href,
    BROWSERPOOL_SYSTEM_NAMESPACE: `system-${newId()}`,
    BROWSERPOOL_DEFAULT_PROJECT: own.projectId,
    ...(encrypted && { BROWSERPOOL_SECRETS_KEY_FILE: keyFile }),
    ...settings,
  });
  await ensureNamespace(kube, config.systemNamespace);

  const log = createLogger("debug", "test", logFile);
  const { store: blobs } = await openBlobStore(config.blobs);
  const lead = new AbortController();
  const controllers = runObjectControllers(
    {
      controllers: objectControllers,
      parts: {
        blobs,
        proxyProvider: readProxyProvider(config),
        destinationFilter: createDestinationFilter(config.privateDestinations),
      },
      kube: withinNamespaces(kube, controlled),
      log,
    },
    { signal: lead.signal, check: () => undefined },
  );
  parts.defer(async () => {
    lead.abort();
    await controllers;
  });
  const start = async (stack: AsyncDisposableStack) => {
    const api = await startApi({ config, kubeconfigPath }, log);
    stack.defer(() => api.stop());
    return api;
  };
  const api = await start(parts);
  const apiKey = newApiKey();
  await ensureOrganizationKey({ kube, namespace: config.systemNamespace, key: apiKey, name: "test" });
  const isKnown = ({ services }: typeof api) =>
    eventually(
      "key and projects are known",
      () =>
        services.apiKeys.authenticate(apiKey) !== undefined && services.projects.find(other.projectId) !== undefined,
    );
  await isKnown(api);
  const kept = parts.move();
  return {
    kube,
    services: api.services,
    namespace: own.name,
    controlled,
    projectId: own.projectId,
    other: { namespace: other.name, projectId: other.projectId },
    client: (projectID) => new Kernel({ baseURL: api.url, apiKey, maxRetries: 0, ...(projectID && { projectID }) }),
    call: caller(api.url, apiKey),
    logged: () => readFile(logFile, "utf8"),
    keyFile,
    apiKey,
    redisUrl,
    blobs,
    blobsFolder,
    async replica() {
      const second = await start(kept);
      await isKnown(second);
      return caller(second.url, apiKey);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};

let made = 0;

/** A name that no other test has. */
export const fresh = (what: string): string => {
  made += 1;
  return `${what}-${made}-${newId().slice(0, 6)}`;
};

/** Makes a connection with a saved credential of these values over HTTP, and returns their ids. */
export const connected = async (
  { call }: Pick<VaultParts, "call">,
  values: Record<string, string> = { username: "alice", password: "p" },
  more: { totp_secret?: string; project?: string } = {},
): Promise<{ connection: string; credential: string; name: string }> => {
  const { project, ...rest } = more;
  const name = fresh("login");
  const stored = await call("POST", "/credentials", { name, domain: "shop.example", values, ...rest }, project);
  const request = { domain: "shop.example", profile_name: fresh("profile"), credential: { name } };
  const connection = await call("POST", "/auth/connections", request, project);
  return { connection: connection.body.id, credential: stored.body.id, name };
};

/** The body of a PUT of an item. */
export const itemOf = (connection: string, more: object = {}): object => ({
  type: "credential",
  spec: { provider: "managed_auth", connection_id: connection, ...more },
});
