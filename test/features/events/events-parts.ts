/** An API whose events are read, with pools and leases that no operator interferes with, behind a link to Redis. */
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { type BreakableLink, startBreakableLink } from "../../support/breakable-link.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";
import { type EventsReader, readEvents } from "../../support/project-events.ts";
import { fresh, startVaultParts, type VaultParts } from "../vaults/vault-parts.ts";

export type EventsParts = VaultParts & {
  leases: LeaseParts;
  /** Between the API and Redis. */
  link: BreakableLink;
  /** By default with the organization's key, in the default project. */
  read(asked?: Partial<Parameters<typeof readEvents>[0]>): Promise<EventsReader>;
  /** A pool with an idle browser. */
  pool(project?: string): Promise<{ id: string; uid: string; project: string }>;
  /** Begins a session. */
  begin(pool: { id: string; uid: string; project: string }, name?: string): Promise<string>;
};

export const startEventsParts = async (): Promise<EventsParts> => {
  await using parts = new AsyncDisposableStack();
  const url = new URL((await sharedServers()).redisUrl);
  const link = await startBreakableLink(Number(url.port));
  parts.defer(() => link.close());
  url.port = String(link.port);
  const api = parts.use(await startVaultParts({ settings: { REDIS_URL: url.href } }));
  const leases = parts.use(await startLeaseParts());
  const kept = parts.move();
  return {
    ...api,
    leases,
    link,
    read: (asked = {}) => readEvents({ url: api.client().baseURL, apiKey: api.apiKey, ...asked }),
    async pool(project = api.projectId) {
      const { body } = await api.call("POST", "/browser_pools", { name: fresh("pool"), size: 1 }, project);
      const namespace = project === api.projectId ? api.namespace : api.other.namespace;
      const uid = (await api.kube.get(browserPoolKind, { namespace, name: body.id }))?.metadata.uid ?? "";
      await leases.addBrowser(uid);
      return { id: body.id, uid, project };
    },
    async begin({ id, uid, project }, name) {
      const session = newId();
      const request = { timeout_seconds: 60, max_session_seconds: 3600, pool: { id, uid }, project, name };
      const taken = await leases.store.take(uid, { session, channel: "none", request: JSON.stringify(request) });
      if (taken.kind !== "granted") throw new Error(`the session is ${taken.kind}`);
      return session;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
