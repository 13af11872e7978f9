import type { SessionNames } from "../reservations/session-names.ts";
import { type AnyLease, requestOf } from "./records.ts";

/**
 * Frees the name of a lease that has ended. Never rejects: what it leaves, the operator's sweep frees within three
 * minutes.
 */
export const freeName = async (names: Pick<SessionNames, "free">, poolUid: string, lease: AnyLease): Promise<void> => {
  try {
    const { name, project } = requestOf(lease);
    if (name) await names.free(project, name, { poolUid, session: lease.session });
  } catch {
    // Redis is away.
  }
};
