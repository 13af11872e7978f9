/**
 * Drives one login to its end:
 *
 *   opened ──► browser started ──► page opened ──► looked at ──► acted on ──► looked at …──► ended
 *     │                                                └── waits for a caller or a person ──┘
 *     └── not there, or what it needs is away ──► opened again
 *
 * `follow-page.ts` looks at the page, `reading/next-step.ts` decides by rules what it is and what is done, and `act.ts` does
 * that, until something throws `Ended`; `outcome.ts` writes it. What Redis keeps of a login says how far it is, so another
 * replica can go on with it: the page itself shows the rest.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../../platform/base/errors.ts";
import { awaitWith, doubling } from "../../../platform/base/retry.ts";
import { fetchConnection } from "../connections/connections.ts";
import { type Drive, NotMine, write } from "./drive.ts";
import { isOver, type LoginFlow } from "./flow.ts";
import { follow } from "./follow-page.ts";
import { endLoginBrowser, endUntoldBrowsers, startLoginBrowser } from "./login-browser.ts";
import { Ended, failed, finish, outcomeOf } from "./outcome.ts";
import type { OwnLoginDeps } from "./own-logins.ts";
import { resumedMemory } from "./reading/login-memory.ts";
import { openStored } from "./stored-for-login.ts";

const startBrowser = async (drive: Drive): Promise<void> => {
  const { connection, project, deps, signal, flow } = drive;
  const over = AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, flow.expiresMs - Date.now()))]);
  const limitMs = flow.expiresMs - Date.now();
  let session: string;
  try {
    session = await startLoginBrowser({ connection, project, keeps: true, limitMs }, deps, over);
  } catch (error) {
    signal.throwIfAborted();
    if (over.aborted) throw new Ended("EXPIRED");
    const why = error instanceof AppError ? error.code : "internal_error";
    deps.log.warn({ connection: flow.connectionId, code: why }, "a login has no browser");
    throw failed("browser_not_started", why);
  }
  try {
    await write(drive, { session });
  } catch (error) {
    await endLoginBrowser(session, project, deps);
    throw error;
  }
};

const endedBy = (error: unknown, { signal, flow, deps }: Drive): Ended => {
  signal.throwIfAborted();
  if (error instanceof Ended) return error;
  if (error instanceof NotMine) throw error;
  if (error instanceof AppError && error.code === "unavailable") throw error;
  const what = error instanceof Error ? error.name : "unknown";
  deps.log.error({ connection: flow.connectionId, cause: what }, "a login could not be carried out");
  return failed("internal_error");
};

/** Opens what a drive needs; undefined when the login's connection or its project is gone. */
const openDrive = async (
  uid: string,
  flow: LoginFlow,
  deps: OwnLoginDeps,
  signal: AbortSignal,
): Promise<Drive | undefined> => {
  const project = deps.projects.find(flow.projectId);
  if (!project) return undefined;
  try {
    const connection = await fetchConnection(flow.connectionId, project, deps);
    if (connection.metadata.uid !== uid) return undefined;
    // A store can be slow.
    const stored = await awaitWith(openStored(connection, project, deps), signal);
    const known = { ...flow, isTyping: flow.step === "SUBMITTING" };
    const memory = resumedMemory(known, connection.spec.loginUrl ?? "", performance.now());
    // It was tried in vain too often: a person may give another one.
    if (!stored.isUsable) memory.rejected.add("password");
    return {
      uid,
      project,
      connection,
      flow,
      memory,
      stored,
      given: new Map(),
      acts: 0,
      isCounted: false,
      deps,
      signal,
    };
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return undefined;
    throw error;
  }
};

/**
 * Between two tries to open what a login needs, ms: ever longer, as a broken credential does not mend itself; but the login
 * ends in time.
 */
const pauseMs = doubling(2000, 30_000);

/** Between two looks at a login that another replica drives, ms. */
const awayMs = 2000;

/** How long after its end a login is still tried to be ended, while Redis is away, ms. */
const graceMs = 60_000;

/**
 * What one replica knows of a login that it drives, from try to try. `takesOver`: whether it has just got the login, whoever
 * drove it before. `last`: as it was read last.
 */
type Turn = { uid: string; flowId: string; takesOver: boolean; last: LoginFlow | undefined };

/** Ends a login that was not opened; its browser too, should a replica before have started one. */
const endUnopened = async ({ uid, flow }: { uid: string; flow: LoginFlow }, ended: Ended, deps: OwnLoginDeps) => {
  const project = deps.projects.find(flow.projectId);
  if (project && flow.session) await endLoginBrowser(flow.session, project, deps);
  const { version, ...before } = flow;
  const written = await deps.flows.write(uid, version, { ...before, ...outcomeOf(ended), updatedMs: Date.now() });
  if (!written) throw new NotMine();
};

/** What a login comes to that could not be opened in its time. */
const neverOpened = (error: unknown): Ended =>
  error instanceof AppError && error.code === "unavailable" ? new Ended("EXPIRED") : failed("credential_unreadable");

const driveOnce = async (turn: Turn, deps: OwnLoginDeps, signal: AbortSignal): Promise<void> => {
  const { uid, flowId } = turn;
  const flow = await deps.flows.read(uid);
  if (!flow || flow.id !== flowId || isOver(flow)) return;
  turn.last = flow;
  if (flow.driver !== deps.replica && !turn.takesOver) throw new NotMine();
  const drive = await openDrive(uid, flow, deps, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (Date.now() < flow.expiresMs) throw error;
    return neverOpened(error);
  });
  if (!drive || drive instanceof Ended) return endUnopened({ uid, flow }, drive ?? new Ended("CANCELED"), deps);
  try {
    const isNew = flow.driver !== deps.replica;
    if (isNew) await write(drive, { driver: deps.replica });
    turn.takesOver = false;
    if (flow.isIn) throw new Ended("SUCCESS", undefined, flow.postLoginUrl);
    const { problem } = drive.stored;
    if (problem) throw failed(problem.code, problem.message);
    if (isNew && !flow.session) await endUntoldBrowsers(drive.connection, drive.project, deps);
    if (!flow.session) await startBrowser(drive);
    await follow(drive);
  } catch (error) {
    await finish(drive, endedBy(error, drive));
  }
};

/** Whether this replica has to go on with a login that others have written. Of one that is over nobody has to. */
const isBack = async (uid: string, flowId: string, { flows, replica }: OwnLoginDeps): Promise<boolean | "over"> => {
  const now = await flows.read(uid).catch(() => undefined);
  if (!now || now.id !== flowId || isOver(now)) return "over";
  return now.driver === replica;
};

/** Waits until a login can go on that could not; false when it is over. Throws the error when it is of no use any more. */
const waitToGoOn = async (
  error: unknown,
  { turn, failures }: { turn: Turn; failures: number },
  deps: OwnLoginDeps,
  signal: AbortSignal,
): Promise<boolean> => {
  signal.throwIfAborted();
  const leftMs = (turn.last?.expiresMs ?? Infinity) - Date.now();
  if (leftMs < -graceMs) throw error;
  if (error instanceof NotMine) {
    turn.takesOver = false;
    const back = await isBack(turn.uid, turn.flowId, deps);
    if (back === false) await sleep(awayMs, undefined, { signal });
    return back !== "over";
  }
  const code = error instanceof AppError ? error.code : (error as Error).name;
  deps.log.warn({ connection: turn.last?.connectionId, code }, "a login can't go on now");
  await sleep(leftMs > 0 ? Math.min(pauseMs(failures), leftMs) : awayMs, undefined, { signal });
  return true;
};

/**
 * Drives a login to its end. Rejects when `signal` is aborted: another replica goes on with it. Of a login that another
 * replica drives it waits for the end. Rejects too when a login could not be ended for a minute after its time.
 */
export const driveLogin = async (
  uid: string,
  flowId: string,
  deps: OwnLoginDeps,
  signal: AbortSignal,
): Promise<void> => {
  const turn: Turn = { uid, flowId, takesOver: true, last: undefined };
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    try {
      return await driveOnce(turn, deps, signal);
    } catch (error) {
      if (!(error instanceof NotMine)) failures += 1;
      if (!(await waitToGoOn(error, { turn, failures }, deps, signal))) return;
    }
  }
};
