/**
 * Takes an on-demand browser for its session when no API replica does: the browser was applied as YAML, or the replica that waited
 * for it has died. The session begins like any other: Redis grants it, the agent binds it.
 */

import type { Logger } from "../../../platform/base/log.ts";
import { projectLabel, wireName } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { namespaces } from "../../../platform/kube/resource-type.ts";
import type { AgentClient } from "../../leases/agent/agent-client.ts";
import { bindLease } from "../../leases/bind-lease.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import { recheckChannel } from "../../leases/pool-keys.ts";
import type { Browser } from "../../model/browsers/browser.ts";
import { onDemandPoolSpec } from "../../model/browsers/on-demand-pool.ts";
import { onDemandRequest, type ReportOf } from "../../model/browsers/on-demand-request.ts";
import type { SessionNames } from "../../reservations/session-names.ts";
import { sessionOf } from "./browser-as-pool.ts";

export type HandOverDeps = {
  kube: Kube;
  store: Pick<LeaseStore, "take" | "reject" | "cancel">;
  agents: Pick<AgentClient, "bind">;
  names: Pick<SessionNames, "reserve">;
  reportOf: ReportOf;
  /** The longest session that the installation allows, s. */
  sessionSeconds: number;
  log: Logger;
};

/** For the operator: why the browser of such a session is looked at again. */
const nameTaken = "another session has got the name";

const projectOf = async ({ metadata }: Browser, { kube }: HandOverDeps): Promise<string> => {
  const namespace = await kube.get(namespaces, { name: metadata.namespace });
  return namespace?.metadata.labels?.[projectLabel] ?? "";
};

/**
 * Takes and binds the browser; returns whether the session has begun. If another session has the wanted name, this one begins
 * without a name. Throws `unavailable` when Redis does not answer.
 */
export const handOver = async (browser: Browser, deps: HandOverDeps): Promise<boolean> => {
  const poolUid = browser.metadata.uid;
  const session = sessionOf(browser);
  const { metadata, spec } = browser;
  const project = await projectOf(browser, deps);
  const report = spec.reportOutcome ? await deps.reportOf(onDemandPoolSpec(spec), metadata.namespace ?? "") : undefined;
  const owner = { id: metadata.name, uid: metadata.uid };
  const context = { owner, name: wireName(browser), project, allowedSeconds: deps.sessionSeconds, report };
  const { name, ...request } = onDemandRequest(spec, context);
  const reserveName = async (): Promise<boolean> =>
    name !== undefined && (await deps.names.reserve(request.project, name, { poolUid, session }));
  const isNamed = await reserveName();
  const outcome = await deps.store.take(poolUid, {
    session,
    // No replica waits for a message about this session.
    channel: recheckChannel(poolUid),
    request: JSON.stringify({ ...request, ...(isNamed && { name }) }),
  });
  if (outcome.kind === "granted") {
    // Until its take the session was not alive, so another one may have got its name. The next round begins without it.
    const hasName = !isNamed || (await reserveName());
    const refusal = hasName ? await bindLease(outcome.lease, request, deps) : nameTaken;
    if (refusal === undefined) return true;
    await deps.store.reject(poolUid, outcome.lease, refusal);
  }
  await deps.store.cancel(poolUid, session);
  return false;
};
