/** Empties an installation that files of tests share: the next file finds it as the first one did. */
import type Kernel from "@onkernel/sdk";
import { apiKeySelector, readApiKey } from "../../src/core/api-keys/api-key-secret.ts";
import { browserKind, isOver } from "../../src/core/model/browsers/browser.ts";
import { isBlank } from "../../src/core/model/pools/blank-pool.ts";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { extensionKind } from "../../src/features/extensions/extension.ts";
import { profileKind } from "../../src/features/profiles/profile.ts";
import { proxyKind } from "../../src/features/proxies/proxy.ts";
import { siteAnalysisKind } from "../../src/features/sites/analyses/site-analysis.ts";
import { siteConfigKind } from "../../src/features/sites/configs/site-config.ts";
import { siteEvidenceKind } from "../../src/features/sites/site-evidence.ts";
import { telemetryDestinationKind } from "../../src/features/telemetry/destinations/telemetry-destination.ts";
import { authConnectionKind } from "../../src/features/vaults/connections/auth-connection.ts";
import { credentialKind } from "../../src/features/vaults/credentials/credential.ts";
import { vaultItemKind } from "../../src/features/vaults/items/vault-item.ts";
import { vaultKind } from "../../src/features/vaults/vault.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import { pods, type ResourceType, secrets } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "./eventually.ts";
import { collect } from "./filled-pool.ts";

/** `kernelOf`: the SDK with a key of the organization, in the project of a namespace. */
type Emptied = { kube: Kube; kernelOf(namespace: string): Kernel };

/** A pool that is being deleted may end meanwhile. */
const unlessGone = (error: { status?: number }): void => {
  if (error.status !== 404) throw error;
};

/** The operator ends hundreds of objects in five seconds, on a machine that has nothing else to do, ms. */
const goneWithinMs = 60_000;

/** Removes all pools and on-demand browsers, also those in use, of one namespace or of all. */
export const endBrowsers = async ({ kube, kernelOf }: Emptied, namespace?: string): Promise<void> => {
  const place = namespace === undefined ? {} : { namespace };
  const [pools, browsers] = await Promise.all([kube.list(browserPoolKind, place), kube.list(browserKind, place)]);
  const running = browsers.items.filter((browser) => !isOver(browser));
  await Promise.all([
    ...pools.items.map((pool) =>
      isBlank(pool)
        ? kube.delete(browserPoolKind, pool.metadata)
        : kernelOf(pool.metadata.namespace).browserPools.delete(pool.metadata.name, { force: true }).catch(unlessGone),
    ),
    ...running.map(({ metadata }) => kube.delete(browserKind, metadata)),
  ]);
  const labelSelector = "app.kubernetes.io/name=browserpool-browser";
  let left: string[] = [];
  await eventually(
    () => `no browser is left: ${left.join(", ")}`,
    async () => {
      const { items } = await kube.list(pods, { ...place, labelSelector });
      left = items.map(({ metadata: { name, deletionTimestamp }, status }) =>
        [name, status?.phase, deletionTimestamp && `deleted ${deletionTimestamp}`].filter(Boolean).join(" "),
      );
      return left.length === 0;
    },
    goneWithinMs,
  );
};

/** What there may be beside pools and browsers that run: what refers to others first. */
const otherKinds: readonly ResourceType<KubeObject>[] = [
  browserKind,
  authConnectionKind,
  vaultItemKind,
  vaultKind,
  credentialKind,
  profileKind,
  extensionKind,
  proxyKind,
  telemetryDestinationKind,
  siteConfigKind,
  siteEvidenceKind,
  siteAnalysisKind,
];

/** Waits until the operator is done with what was deleted. */
const allGone = async (kube: Kube, kind: ResourceType<KubeObject>): Promise<void> => {
  let left: string[] = [];
  await eventually(
    () => `no ${kind.kind} is left: ${left.join(", ")}`,
    async () => {
      left = (await kube.list(kind)).items.map(({ metadata }) => metadata.name);
      return left.length === 0;
    },
    goneWithinMs,
  );
};

const deleteObjects = async (kube: Kube): Promise<void> => {
  for (const kind of otherKinds) {
    const { items } = await kube.list(kind);
    await Promise.all(items.map(({ metadata }) => kube.delete(kind, metadata)));
  }
  for (const kind of [browserPoolKind, ...otherKinds]) await allGone(kube, kind);
};

/** Deletes the keys that were made over HTTP: all but the first. */
const deleteApiKeys = async (kube: Kube): Promise<void> => {
  const { items } = await kube.list(secrets, { labelSelector: apiKeySelector });
  const made = items.filter((secret) => readApiKey(secret)?.createdBy !== "system");
  await Promise.all(made.map(({ metadata }) => kube.delete(secrets, metadata)));
};

/**
 * Removes everything that was made in the organization since it began: its projects and what is in them, API keys,
 * sites and caps.
 */
export const emptyInstallation = async (emptied: Emptied): Promise<void> => {
  const { kube, kernelOf } = emptied;
  await endBrowsers(emptied);
  await deleteObjects(kube);
  const kernel = kernelOf("default");
  const projects = (await collect(kernel.projects.list({ limit: 100 }))).filter(({ id }) => id !== "default");
  await Promise.all(projects.map(({ id }) => kernel.projects.delete(id)));
  await deleteApiKeys(kube);
  await kernel.organization.limits.update({ default_project_max_concurrent_sessions: null });
};
