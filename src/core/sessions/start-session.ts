/** How a browser of a pool goes to a caller: under a name, if one is wanted, and so that it can be taken back. */
import type { Config } from "../config/config.ts";
import type { AbandonedSessions } from "../leases/abandoned-sessions.ts";
import type { Session } from "../model/sessions/session-wire.ts";
import type { Project } from "../projects/projects.ts";
import { reserveSessionName, type SessionNames } from "../reservations/session-names.ts";

/**
 * Collects of a session in the background: its telemetry where its settings ask for that, or what it leaves in its
 * folder.
 */
export type SessionCollector = {
  collect(session: { poolUid: string; session: string }): void;
  /** The same; resolves when this replica or another one has begun. */
  ensure(session: { poolUid: string; session: string }): Promise<void>;
};

/** What is collected of sessions from their begin on. */
export type CollectingDeps = {
  config: Pick<Config, "keptFiles">;
  telemetry: { collector: SessionCollector };
  keptFiles: { collector: SessionCollector };
};

export type StartedSession = {
  session: Session;
  /** Call it when the answer did not reach the caller: the browser goes to the next caller. */
  abandon(): void;
};

type SessionOwner = { poolUid: string; session: string };

/** The answer for a bound lease. When it can't be made, or the caller is gone by then, the session is abandoned. */
export const answerHeld = async (
  prepared: Promise<Session> | undefined,
  { poolUid, session }: SessionOwner,
  deps: { abandonedSessions: AbandonedSessions },
  signal: AbortSignal,
): Promise<Session | undefined> => {
  try {
    const answer = await prepared;
    signal.throwIfAborted();
    return answer;
  } catch (error) {
    deps.abandonedSessions.add(poolUid, session);
    throw error;
  }
};

/**
 * Reserves the name, then lets `acquire` get a browser for the session; undefined when it got none. The name is free
 * again then, and when it throws. Throws `name_taken`, and what `acquire` throws. Until its take the session is not
 * alive, so that another caller may have got its name; then the name is not found to be its own afterwards, and its
 * browser goes back.
 */
export const startSession = async (
  { owner, name, project }: { owner: SessionOwner; name: string | undefined; project: Project },
  acquire: () => Promise<Session | undefined>,
  deps: { abandonedSessions: AbandonedSessions; names: SessionNames } & CollectingDeps,
  signal: AbortSignal,
): Promise<StartedSession | undefined> => {
  const reserveName = () => reserveSessionName(name, { owner, projectId: project.id }, deps, signal);
  await reserveName();
  const freeName = async (): Promise<void> => {
    if (name) await deps.names.free(project.id, name, owner).catch(() => undefined);
  };
  let session: Session | undefined;
  try {
    session = await acquire();
    if (session) await reserveName();
    signal.throwIfAborted();
  } catch (error) {
    if (session) deps.abandonedSessions.add(owner.poolUid, owner.session);
    session = undefined;
    throw error;
  } finally {
    if (!session) await freeName();
  }
  if (!session) return undefined;
  if (session.telemetry) deps.telemetry.collector.collect(owner);
  if (deps.config.keptFiles.seconds > 0) deps.keptFiles.collector.collect(owner);
  return {
    session,
    abandon() {
      deps.abandonedSessions.add(owner.poolUid, owner.session);
      void freeName();
    },
  };
};
