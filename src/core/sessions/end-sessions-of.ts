/**
 * A project that takes no requests any more has no sessions: it is archived, over HTTP or by the label of its
 * namespace, or it is deleted, or its namespace is being deleted. Each replica ends its sessions when the watch of
 * namespaces shows that, and looks again once a minute while there are pools or browsers: a session may have begun
 * meanwhile. To end a session twice does nothing.
 */

import type { Logger } from "../../platform/base/log.ts";
import { startWorkQueue } from "../../platform/kube/work-queue.ts";
import { parseLease } from "../leases/lease-store.ts";
import type { Browser } from "../model/browsers/browser.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { liveOwnersOf } from "../pools/use-cases/lease-owners.ts";
import type { Project, Projects } from "../projects/projects.ts";
import { type EndSessionDeps, endSession } from "./release-browser.ts";

/** The pause between two looks at a project that is closed, ms. */
const lookAgainMs = 60_000;

/** Closed projects whose sessions are ended at the same time. */
const concurrency = 2;

/**
 * Ends all active sessions. Throws `unavailable`; what had been ended by then stays so, and the call may be repeated.
 */
export const endSessionsOf = async (
  project: Project,
  deps: EndSessionDeps & { browsers: WatchedObjects<Browser>; pools: WatchedObjects<BrowserPool> },
): Promise<void> => {
  for (const { metadata } of liveOwnersOf(project, deps)) {
    const poolUid = metadata.uid;
    for (const text of await deps.store.leaseTexts(poolUid)) {
      const { session } = parseLease(text);
      await endSession({ poolUid, session, reuse: "none", reason: "deleted" }, deps);
    }
  }
};

/** Starts to end the sessions of closed projects, until `stop`. */
export const startProjectEnds = (
  deps: EndSessionDeps & {
    browsers: WatchedObjects<Browser>;
    log: Logger;
    pools: WatchedObjects<BrowserPool>;
    projects: Projects;
  },
): { stop(): Promise<void> } => {
  const { projects, log } = deps;
  const queue = startWorkQueue({
    name: "project-ends",
    concurrency,
    log,
    async work(namespace) {
      const project = projects.closed(namespace);
      if (!project) return undefined;
      await endSessionsOf(project, deps);
      return liveOwnersOf(project, deps).length > 0 ? { requeueAfterMs: lookAgainMs } : undefined;
    },
  });
  projects.listen((namespace) => {
    if (projects.closed(namespace)) queue.add(namespace);
  });
  return { stop: queue.stop };
};
