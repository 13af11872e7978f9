/** Ends all active sessions of a project: nobody can end them over HTTP any more. */
import { parseLease } from "../../leases/lease-store.ts";
import { liveOwnersOf } from "../pools/lease-owners.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { endSession } from "./release-browser.ts";

/** Resolves when each is ended. Throws `unavailable`; what had been ended by then stays so, and the call may be repeated. */
export const endSessionsOf = async (project: Project, deps: ServiceDeps): Promise<void> => {
  for (const { metadata } of liveOwnersOf(project, deps)) {
    const poolUid = metadata.uid;
    for (const text of await deps.store.leaseTexts(poolUid)) {
      const { session } = parseLease(text);
      await endSession({ poolUid, session, reuse: "none", reason: "deleted" }, deps);
    }
  }
};
