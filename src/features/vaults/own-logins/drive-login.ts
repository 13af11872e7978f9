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
import { awaitWith } from "../../../platform/base/retry.ts";
import { fetchConnection } from "../connections/connections.ts";
import { type Drive, NotMine, write } from "./drive.ts";
import { isOver, type LoginFlow } from "./flow.ts";
import { follow } from "./follow-page.ts";
import { endLoginBrowser, startLoginBrowser } from "./login-browser.ts";
import { Ended, failed, finish, outcomeOf } from "./outcome.ts";
import type { OwnLoginDeps } from "./own-logins.ts";
import { newMemory } from "./reading/next-step.ts";
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
    const memory = newMemory(connection.spec.loginUrl ?? "", performance.now());
    for (const ref of flow.typed) memory.typed.add(ref);
    for (const ref of flow.rejected) memory.rejected.add(ref);
    // It was tried in vain too often: a person may give another one.
    if (!stored.isUsable) memory.rejected.add("password");
    memory.hasActed = flow.typed.length > 0;
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

/** Between two tries to reach what a login needs and is away, ms. */
const awayMs = 2000;

/** `takesOver`: whether this replica has just got the login, whoever drove it before. */
const driveOnce = async (
  { uid, flowId, takesOver }: { uid: string; flowId: string; takesOver: boolean },
  deps: OwnLoginDeps,
  signal: AbortSignal,
): Promise<void> => {
  const flow = await deps.flows.read(uid);
  if (!flow || flow.id !== flowId || isOver(flow)) return;
  const drive = await openDrive(uid, flow, deps, signal);
  if (!drive) {
    const { version, ...before } = flow;
    await deps.flows.write(uid, version, { ...before, ...outcomeOf(new Ended("CANCELED")), updatedMs: Date.now() });
    return;
  }
  try {
    if (flow.driver !== deps.replica) {
      if (!takesOver) throw new NotMine();
      await write(drive, { driver: deps.replica });
    }
    const { problem } = drive.stored;
    if (problem) throw failed(problem.code, problem.message);
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

/**
 * Drives a login to its end. Rejects when `signal` is aborted: another replica goes on with it. Of a login that another
 * replica drives it waits for the end.
 */
export const driveLogin = async (
  uid: string,
  flowId: string,
  deps: OwnLoginDeps,
  signal: AbortSignal,
): Promise<void> => {
  const isLost = async (error: unknown): Promise<boolean> => {
    signal.throwIfAborted();
    if (!(error instanceof NotMine || error instanceof AppError)) throw error;
    const back = error instanceof AppError ? false : await isBack(uid, flowId, deps);
    if (back === false) await sleep(awayMs, undefined, { signal });
    return back === "over";
  };
  for (let takesOver = true; ; takesOver = false) {
    signal.throwIfAborted();
    try {
      return await driveOnce({ uid, flowId, takesOver }, deps, signal);
    } catch (error) {
      if (await isLost(error)) return;
    }
  }
};
