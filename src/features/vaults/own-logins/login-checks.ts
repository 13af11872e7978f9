/**
 * Keeps profiles logged in: each connection with health checks is checked at its interval by one of the API replicas, and logged
 * in again where that is wanted and can be done without a person. What comes to nothing is repeated ever more rarely.
 *
 *   due ──► claimed by one replica ──► checked ──logged in──► at its interval again
 *                                          └──not──► NEEDS_AUTH ──► a login by itself ──► later, the more often it has failed
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { WatchedObjects } from "../../../core/objects/watched-objects.ts";
import type { Project } from "../../../core/projects/projects.ts";
import {
  type AuthConnection,
  authConnectionKind,
  authenticatedAtAnnotation,
  connectionStatus,
} from "../connections/auth-connection.ts";
import { attemptsOf, mostAttempts } from "./attempts.ts";
import { checkedPage, checkLogin, checkMs, type LoginCheck } from "./check-login.ts";
import { isOver, type TimelineEvent } from "./flow.ts";
import { newFlowId } from "./flow-store.ts";
import type { OwnLoginDeps, OwnLogins } from "./own-logins.ts";
import { openStored } from "./stored-for-login.ts";

/** Between two looks at what is due, ms; a quarter more or less. */
const lookMs = 5000;

/** Checks that one replica makes at once. */
const mostAtOnce = 3;

/** The interval of a connection that gives none, s; the longest pause, s. */
const usualSeconds = 3600;
const longestSeconds = 86_400;

type LoginChecksDeps = Omit<OwnLoginDeps, "inbox"> & {
  connections: Pick<WatchedObjects<AuthConnection>, "list">;
  ownLogins: Pick<OwnLogins, "start">;
};

const intervalMs = ({ spec }: AuthConnection): number => (spec.healthCheckInterval ?? usualSeconds) * 1000;

/** The pause after this many checks in a row that came to nothing, ms. */
const pauseAfter = (intervalOfCheckMs: number, failures: number): number =>
  Math.min(intervalOfCheckMs * 2 ** Math.min(failures, 16), Math.max(longestSeconds * 1000, intervalOfCheckMs));

/** Whether a login by itself may be tried now, and has what it needs. */
const mayLogIn = async (connection: AuthConnection, project: Project, deps: LoginChecksDeps): Promise<boolean> => {
  const { autoReauth, loginUrl } = connection.spec;
  if (!autoReauth || loginUrl === undefined) return false;
  const { login, mark, problem } = await openStored(connection, project, deps);
  // The login says then what is wrong with the credential provider.
  if (problem) return true;
  return login.values.size > 0 && attemptsOf(connection, mark) < mostAttempts;
};

/** Whether the login that was begun has let in. */
const logIn = async (connection: AuthConnection, project: Project, deps: LoginChecksDeps, signal: AbortSignal) => {
  const flow = await deps.ownLogins.start({ connection, project, type: "REAUTH" });
  while (Date.now() < flow.expiresMs) {
    await sleep(1000, undefined, { signal });
    const now = await deps.flows.read(connection.metadata.uid);
    if (now?.id !== flow.id) return false;
    if (isOver(now)) return now.status === "SUCCESS";
  }
  return false;
};

const noteStatus = async (
  connection: AuthConnection,
  isLoggedIn: boolean,
  { kube }: LoginChecksDeps,
): Promise<void> => {
  const isKnown = connectionStatus(connection) === "AUTHENTICATED";
  if (isKnown === isLoggedIn) return;
  const annotations = { [authenticatedAtAnnotation]: isLoggedIn ? new Date().toISOString() : null };
  await kube.patch(authConnectionKind, connection.metadata, { metadata: { annotations } });
};

const eventOf = (connection: AuthConnection, { isLoggedIn, session }: LoginCheck): TimelineEvent | undefined =>
  isLoggedIn === undefined
    ? undefined
    : {
        id: newFlowId(Date.now()),
        type: "health_check",
        status: isLoggedIn ? "AUTHENTICATED" : "NEEDS_AUTH",
        previous_status: connectionStatus(connection),
        timestamp: new Date().toISOString(),
        ...(session && { browser_session_id: session }),
      };

/** One check, and the login that follows from it; the time of the next one, ms since the epoch. */
const checkOnce = async (
  connection: AuthConnection,
  project: Project,
  deps: LoginChecksDeps,
  signal: AbortSignal,
): Promise<number> => {
  const { uid } = connection.metadata;
  const { failures } = await deps.flows.readCheck(uid);
  const running = await deps.flows.read(uid);
  const interval = intervalMs(connection);
  // A login says more than a check.
  if (!checkedPage(connection) || (running && !isOver(running))) return Date.now() + interval;
  const check = await checkLogin(connection, project, deps, signal);
  await deps.flows.noteCheck(uid, { checkedMs: Date.now(), failures }, eventOf(connection, check));
  if (check.isLoggedIn !== undefined) await noteStatus(connection, check.isLoggedIn, deps);
  const isIn =
    check.isLoggedIn === true ||
    (check.isLoggedIn === false &&
      (await mayLogIn(connection, project, deps)) &&
      (await logIn(connection, project, deps, signal)));
  const failed = isIn ? 0 : failures + 1;
  await deps.flows.noteCheck(uid, { checkedMs: Date.now(), failures: failed });
  return Date.now() + pauseAfter(interval, failed);
};

/** With the interval, so that another one plans anew; what is left of the old one is forgotten when it is due. */
const memberOf = (connection: AuthConnection): string => {
  const { namespace, name, uid } = connection.metadata;
  return `${namespace}/${name}/${uid}/${intervalMs(connection)}`;
};

const isChecked = ({ spec, metadata }: AuthConnection): boolean =>
  spec.healthChecks && metadata.deletionTimestamp === undefined;

/** Longest time that one replica may be at one connection, ms: a check and a login. */
const claimMs = checkMs + 200_000;

/** Starts to check; the caller must call `stop`. */
export const startLoginChecks = (deps: LoginChecksDeps): { stop(): Promise<void> } => {
  const stopped = new AbortController();
  const { signal } = stopped;
  const running = new Map<string, Promise<void>>();
  const run = async (member: string): Promise<void> => {
    const connection = deps.connections.list().find((one) => memberOf(one) === member);
    const project = connection && deps.projects.find(connection.metadata.namespace);
    const owner = project ?? deps.projects.list().find(({ namespace }) => namespace === connection?.metadata.namespace);
    if (!connection || !owner || !isChecked(connection)) return deps.flows.forget(member);
    if (!(await deps.flows.claimCheck(connection.metadata.uid, claimMs))) return;
    // Should this replica die, another one tries again after the claim.
    await deps.flows.replan(member, Date.now() + claimMs);
    let nextMs = Date.now() + intervalMs(connection);
    try {
      nextMs = await checkOnce(connection, owner, deps, signal);
    } catch (error) {
      signal.throwIfAborted();
      deps.log.warn({ connection: connection.metadata.name, cause: (error as Error).name }, "a login is not checked");
    }
    await deps.flows.replan(member, nextMs);
    await deps.flows.endCheck(connection.metadata.uid);
  };
  const look = async (): Promise<void> => {
    const nowMs = Date.now();
    await deps.flows.plan(
      deps.connections
        .list()
        .filter(isChecked)
        .map((one) => ({ member: memberOf(one), atMs: nowMs + intervalMs(one) })),
    );
    for (const member of await deps.flows.due(nowMs, mostAtOnce * 4)) {
      if (running.size >= mostAtOnce) return;
      if (running.has(member)) continue;
      running.set(
        member,
        run(member)
          .catch(() => undefined)
          .finally(() => running.delete(member)),
      );
    }
  };
  const looking = (async () => {
    while (!signal.aborted) {
      await look().catch((err: unknown) => deps.log.debug({ err }, "no look at the checks of logins"));
      await sleep(lookMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await Promise.race([Promise.all([looking, ...running.values()]), sleep(2000, undefined, { ref: false })]);
    },
  };
};
