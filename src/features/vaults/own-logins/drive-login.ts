/**
 * Drives one login: it looks at the page, decides by rules what the page is (reading/next-step.ts), and types and presses, until
 * the site has let in. Values go into the page by the same fill as those of items. What Redis keeps of a login says how far it
 * is, so another replica can go on with it: the page itself shows the rest.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { AnyLease } from "../../../core/leases/records.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import { awaitWith } from "../../../platform/base/retry.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { CdpClosed, CdpRefused, CdpTimeout } from "../../../platform/cdp/cdp-errors.ts";
import {
  type AuthConnection,
  authConnectionKind,
  authenticatedAtAnnotation,
  postLoginUrlAnnotation,
} from "../connections/auth-connection.ts";
import { fetchConnection } from "../connections/connections.ts";
import { devToolsOf } from "../fill/attached-browser.ts";
import { maskValues } from "../fill/fill-item.ts";
import { fillPage } from "../fill/fill-page.ts";
import { type Binding, FillRefused } from "../fill/fill-result.ts";
import type { PageSurvey } from "../fill/page-survey.ts";
import { totpCode, totpPeriodMs } from "../logins/rules/totp.ts";
import { attemptsOf, mostAttempts, noteAttempts } from "./attempts.ts";
import { type AwaitedChoice, type AwaitedField, type FlowError, isOver, type LoginFlow } from "./flow.ts";
import {
  connectLoginBrowser,
  endLoginBrowser,
  findLoginSession,
  keepLoginBrowser,
  openPage,
  startLoginBrowser,
  withSurvey,
} from "./login-browser.ts";
import type { OwnLoginDeps, Submitted } from "./own-logins.ts";
import { loginRules } from "./reading/login-rules.ts";
import {
  type LoginMemory,
  type MissingField,
  newMemory,
  nextStep,
  noteActed,
  type PersonIsNeeded,
  pageOf,
  type Step,
  valueNameOf,
} from "./reading/next-step.ts";
import { type LoginChoice, type LoginField, type LoginPage, readLoginPage } from "./reading/read-login-page.ts";
import { isAllowedPage } from "./rules/allowed-pages.ts";
import { openStored, type StoredForLogin } from "./stored-for-login.ts";

/** Between two looks at the page, ms. */
const lookMs = 300;

/** Between two looks whether the connection is still there, ms. */
const confirmMs = 5000;

/** What one login types and presses at most: a page that leads in circles ends it. */
const mostActs = 20;

/** For one fill, ms. */
const fillMs = 20_000;

/** Another replica drives the login, or it has ended. */
class NotMine extends Error {}

/** The login has ended, and how. */
class Ended extends Error {
  readonly status: "FAILED" | "EXPIRED" | "CANCELED" | "SUCCESS";
  readonly code: FlowError | undefined;
  readonly detail: string | undefined;
  constructor(status: Ended["status"], code?: FlowError, detail?: string) {
    super(status);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

const failed = (code: FlowError, detail?: string): Ended => new Ended("FAILED", code, detail);

const texts: Record<FlowError, string> = {
  account_locked: "the site says that the account is locked; it is not tried again until the credential changes",
  browser_ended: "the browser ended before the login did",
  browser_not_started: "there was no browser for the login",
  credential_provider_refused: "the credential provider does not let in",
  credential_provider_unavailable: "the credential provider does not answer now",
  credentials_rejected: "the site did not take the stored login",
  external_action_required: "only a person can go on; begin a login by POST /auth/connections/{id}/login",
  external_credential_not_found: "the connection's credential is not there",
  external_credential_unusable: "the login of the credential provider can't be typed",
  input_required: "the site asks for values that are not stored; begin a login by POST /auth/connections/{id}/login",
  internal_error: "the login could not be carried out",
  origin_not_allowed: "the site asks for the login at an origin that is not allowed",
  profile_not_saved: "the site let in, but the profile could not be saved",
  site_not_reached: "the page of the login could not be opened",
  too_many_steps: "the site asks again and again",
};

const actions: Record<PersonIsNeeded, string> = {
  captcha: "solve the captcha in the live view and send the form",
  push: "approve the login on the other device",
  unknown: "the page is none that is known; go on in the live view",
};

type Drive = {
  uid: string;
  project: Project;
  connection: AuthConnection;
  flow: LoginFlow;
  memory: LoginMemory;
  stored: StoredForLogin;
  given: Map<string, Sensitive>;
  acts: number;
  /** Whether this login was counted as a try with the stored one. */
  isCounted: boolean;
  deps: OwnLoginDeps;
  signal: AbortSignal;
};

/** Writes a change of the login; throws `NotMine` when somebody else has written. */
const write = async (drive: Drive, changes: Partial<LoginFlow>): Promise<void> => {
  const { uid, deps, flow } = drive;
  const { version, ...before } = flow;
  const { typed, rejected } = drive.memory;
  const after = { ...before, ...changes, typed: [...typed], rejected: [...rejected], updatedMs: Date.now() };
  const written = await deps.flows.write(uid, version, after);
  if (!written) throw new NotMine();
  drive.flow = written;
};

const limitsOf = ({ stored: { allowedOrigins } }: Drive): readonly string[] | undefined => allowedOrigins;

const isAllowed =
  (drive: Drive) =>
  (origin: string): boolean =>
    isAllowedPage(origin, drive.connection.spec, limitsOf(drive));

const hasTotp = ({ stored, memory }: Drive): boolean =>
  stored.login.totpSecret !== undefined && !memory.rejected.has("code");

const storedName = ({ stored }: Drive, field: LoginField): string | undefined =>
  valueNameOf(field, [...stored.login.values.keys()]);

const sourceOf =
  (drive: Drive) =>
  (field: LoginField): "given" | "stored" | undefined => {
    if (drive.given.has(field.ref) && !drive.memory.rejected.has(field.ref)) return "given";
    if (field.kind === "code" && hasTotp(drive)) return "stored";
    return storedName(drive, field) === undefined ? undefined : "stored";
  };

const valueFor = (drive: Drive, field: LoginField): (() => Sensitive) => {
  const given = drive.given.get(field.ref);
  if (given) return () => given;
  const { totpSecret, values } = drive.stored.login;
  if (field.kind === "code" && totpSecret)
    return () => new Sensitive(totpCode(totpSecret.reveal(), Date.now())?.code ?? "");
  const value = values.get(storedName(drive, field) ?? "") ?? new Sensitive("");
  return () => value;
};

/** What the browser's telemetry must not have: the values, and the codes of this and of the next period. */
const maskedOf = (drive: Drive, fields: readonly LoginField[]): string[] =>
  fields.flatMap((field) => {
    const { totpSecret } = drive.stored.login;
    const isCode = field.kind === "code" && totpSecret && !drive.given.has(field.ref);
    if (!isCode) return valueFor(drive, field)().reveal();
    return [0, totpPeriodMs].flatMap((ms) => totpCode(totpSecret.reveal(), Date.now() + ms)?.code ?? []);
  });

/** Counts a try with the stored login, before it is made: it counts whatever becomes of this process. */
const countAttempt = async (drive: Drive, fields: readonly LoginField[]): Promise<void> => {
  const isTry = fields.some((field) => field.kind === "password" && sourceOf(drive)(field) === "stored");
  if (!isTry || drive.isCounted) return;
  drive.isCounted = true;
  const { mark } = drive.stored;
  const connection = await fetchConnection(drive.flow.connectionId, drive.project, drive.deps);
  const count = attemptsOf(connection, mark) + 1;
  await noteAttempts(connection, { mark, count }, drive.deps);
};

const bindingsOf = async (drive: Drive, survey: PageSurvey, fields: readonly LoginField[]): Promise<Binding[]> => {
  const bindings: Binding[] = [];
  for (const field of fields) {
    const selector = await survey.selectorOf(field.place);
    if (selector !== undefined) bindings.push({ selector, value: valueFor(drive, field) });
  }
  return bindings;
};

type Look = { survey: PageSurvey; page: LoginPage };

/** Whether everything was typed, as far as is known. */
const fill = async (
  drive: Drive,
  { survey, page }: Look,
  { bindings, lease }: { bindings: Binding[]; lease: AnyLease },
): Promise<boolean> => {
  const { deps, signal } = drive;
  const origins = new Set(survey.frames.map(({ origin }) => origin));
  try {
    const { status } = await fillPage(
      {
        connect: await devToolsOf(lease, deps),
        timeoutMs: fillMs,
        bindings,
        allowedOrigins: [...origins].filter(isAllowed(drive)),
        ...(page.url.length < 2048 && { pageUrl: page.url }),
      },
      signal,
    );
    return status !== "failed";
  } catch (error) {
    if (!(error instanceof FillRefused)) throw error;
    if (error.code === "origin_not_allowed") throw failed("origin_not_allowed");
    return false;
  }
};

const type = async (drive: Drive, { survey, page }: Look, step: Step & { do: "type" }): Promise<void> => {
  const { fields, form } = step;
  const { deps, memory, project } = drive;
  const bindings = await bindingsOf(drive, survey, fields);
  if (bindings.length < fields.length) return needPerson(drive, "unknown");
  const found = await findLoginSession(drive.flow.session ?? "", project, deps);
  if (!found) throw failed("browser_ended");
  await countAttempt(drive, fields);
  for (const { ref } of fields) {
    memory.typed.add(ref);
    memory.rejected.delete(ref);
  }
  noteActed(memory, page, { nowMs: performance.now(), toSend: true });
  await write(drive, { step: "SUBMITTING", fields: [], choices: [], externalMessage: undefined });
  if (form.remember) await survey.press(form.remember.place);
  await maskValues(found.lease, maskedOf(drive, fields), deps);
  const isTyped = await fill(drive, { survey, page }, { bindings, lease: found.lease });
  if (!isTyped) {
    // The page has changed meanwhile, or does not answer: it is looked at again.
    for (const { ref } of fields) memory.typed.delete(ref);
    Object.assign(memory, { sent: undefined, toSend: false });
  }
  // A value that was given is typed once; a code is of no use afterwards.
  for (const { kind, ref } of fields) if (kind === "code") drive.given.delete(ref);
};

const send = async (drive: Drive, { survey, page }: Look, step: Step & { do: "send" }): Promise<void> => {
  noteActed(drive.memory, page, { nowMs: performance.now(), toSend: false });
  const { send: button, fields } = step.form;
  if (button) await survey.press(button.place);
  else if (fields[0]) await survey.submit(fields[0].place);
};

/** The button that sends a choice among radio buttons. */
const sendOfChoice = (survey: PageSurvey, frame: number): number | undefined => {
  const pressables = survey.frames[frame]?.pressables ?? [];
  const index = pressables.findIndex(({ kind, text }) => kind === "submit" && !loginRules.never(text));
  return index < 0 ? undefined : index;
};

const choose = async (
  drive: Drive,
  { survey, page }: Look,
  what: Pick<LoginChoice, "place" | "kind">,
): Promise<void> => {
  noteActed(drive.memory, page, { nowMs: performance.now(), toSend: false });
  drive.memory.hasChosen = true;
  await survey.press(what.place);
  const index = what.kind === "radio" ? sendOfChoice(survey, what.place.frame) : undefined;
  if (index !== undefined) await survey.press({ frame: what.place.frame, index });
};

const inputModes: Record<string, AwaitedField["input_mode"]> = { email: "email", tel: "tel", numeric: "numeric" };

const awaitedField = (field: MissingField): AwaitedField => {
  const mode = field.isEmail ? "email" : inputModes[field.inputMode];
  return {
    id: field.ref,
    ref: field.ref,
    type: field.kind,
    reason: field.reason,
    label: field.label,
    required: !field.isOptional,
    ...(mode && { input_mode: mode }),
  };
};

const choiceId = (index: number): string => `choice-${index + 1}`;

const awaitedChoice = ({ text, type }: LoginChoice, index: number): AwaitedChoice => ({
  id: choiceId(index),
  label: text,
  type: "mfa_method",
  mfa_type: type,
});

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Waits for values or a choice. Without a person, a login ends here. */
const ask = async (drive: Drive, step: Step & { do: "ask" }): Promise<void> => {
  const isRejected = step.fields.some(({ reason }) => reason === "rejected");
  if (drive.flow.type === "REAUTH") throw failed(isRejected ? "credentials_rejected" : "input_required");
  for (const { ref, isOptional } of step.fields) if (!isOptional) drive.given.delete(ref);
  const fields = step.fields.map(awaitedField);
  const choices = step.choices.map(awaitedChoice);
  const { flow } = drive;
  if (flow.step === "AWAITING_INPUT" && isSame(flow.fields, fields) && isSame(flow.choices, choices)) return;
  await write(drive, {
    step: "AWAITING_INPUT",
    fields,
    choices,
    interactionId: randomBytes(12).toString("hex"),
    externalMessage: undefined,
    websiteError: isRejected ? "the site did not take what was typed" : undefined,
  });
};

/** Waits for a person. */
const needPerson = async (drive: Drive, why: PersonIsNeeded): Promise<void> => {
  if (drive.flow.type === "REAUTH") throw failed("external_action_required");
  drive.memory.hasActed = true;
  const externalMessage = actions[why];
  if (drive.flow.step === "AWAITING_EXTERNAL_ACTION" && drive.flow.externalMessage === externalMessage) return;
  await write(drive, {
    step: "AWAITING_EXTERNAL_ACTION",
    externalMessage,
    fields: [],
    choices: [],
    interactionId: undefined,
  });
};

/** What a caller has handed in since the last look. */
const takeSubmitted = async (drive: Drive, look: Look, submitted: Submitted): Promise<void> => {
  for (const [ref, value] of submitted.values) {
    drive.given.set(ref, value);
    drive.memory.typed.delete(ref);
    drive.memory.rejected.delete(ref);
  }
  const { choice } = submitted;
  const chosen = choice && look.page.choices.find(({ text }) => text === choice.label);
  if (chosen) await choose(drive, look, chosen);
};

const act = async (drive: Drive, look: Look, step: Step): Promise<void> => {
  if (["type", "send", "press"].includes(step.do)) {
    drive.acts += 1;
    if (drive.acts > mostActs) throw failed("too_many_steps");
  }
  switch (step.do) {
    case "wait":
      return;
    case "type":
      return type(drive, look, step);
    case "send":
      return send(drive, look, step);
    case "press":
      return choose(drive, look, step.what);
    case "ask":
      return ask(drive, step);
    case "person":
      return needPerson(drive, step.why);
    case "fail":
      throw failed(step.code, step.origin);
    case "done":
      throw new Ended("SUCCESS", undefined, pageOf(look.page.url));
  }
};

/** Whether the connection is still there, and the same one. */
const requireConnection = async ({ connection, flow, project, deps }: Drive): Promise<void> => {
  try {
    const now = await fetchConnection(flow.connectionId, project, deps);
    if (now.metadata.uid === connection.metadata.uid && !now.metadata.deletionTimestamp) return;
  } catch (error) {
    if (!(error instanceof AppError && error.code === "not_found")) return;
  }
  throw new Ended("CANCELED");
};

const isPageTrouble = (error: unknown): boolean => error instanceof CdpRefused || error instanceof CdpTimeout;

const lookOnce = async (drive: Drive, cdp: CdpConnection): Promise<void> => {
  const { memory, deps, flow } = drive;
  await withSurvey(cdp, async (survey) => {
    const page = readLoginPage(survey.frames, isAllowed(drive));
    const look = { survey, page };
    const submitted = deps.inbox.take(flow);
    if (submitted) await takeSubmitted(drive, look, submitted);
    if (submitted?.choice) return;
    const input = { page, memory, nowMs: performance.now(), hasTotp: hasTotp(drive) };
    await act(drive, look, nextStep({ ...input, sourceOf: sourceOf(drive), isAllowed: isAllowed(drive) }));
  }).catch((error: unknown) => {
    // The page has gone on meanwhile.
    if (!isPageTrouble(error)) throw error;
  });
};

/** Follows the flow that others write: a caller's values, or another replica that goes on with it. */
const confirmMine = async (drive: Drive): Promise<void> => {
  const now = await drive.deps.flows.read(drive.uid);
  if (!now || now.id !== drive.flow.id || isOver(now) || now.driver !== drive.deps.replica) throw new NotMine();
  drive.flow = now;
};

const followPage = async (drive: Drive, cdp: CdpConnection): Promise<void> => {
  let confirmedMs = performance.now();
  for (;;) {
    drive.signal.throwIfAborted();
    if (Date.now() >= drive.flow.expiresMs) throw new Ended("EXPIRED");
    await confirmMine(drive);
    if (performance.now() - confirmedMs > confirmMs) {
      await requireConnection(drive);
      confirmedMs = performance.now();
    }
    if (!cdp.isOpen()) throw new CdpClosed("the connection is closed");
    await lookOnce(drive, cdp);
    await sleep(lookMs, undefined, { signal: drive.signal });
  }
};

/** Opens the page where the login begins, once. */
const begin = async (drive: Drive, cdp: CdpConnection): Promise<void> => {
  if (drive.flow.isOpen) return;
  const isReached = await openPage(cdp, drive.connection.spec.loginUrl ?? "").catch((error: unknown) => {
    if (isPageTrouble(error)) return false;
    throw error;
  });
  if (!isReached) throw failed("site_not_reached");
  await write(drive, { isOpen: true });
};

/** Connections that one login makes to its browser at most. */
const mostConnections = 5;

const follow = async (drive: Drive): Promise<never> => {
  const { deps, project, signal } = drive;
  for (let tries = 0; tries < mostConnections; tries += 1) {
    const found = await findLoginSession(drive.flow.session ?? "", project, deps);
    if (!found) break;
    try {
      await using cdp = await connectLoginBrowser(found.lease, deps, signal);
      await begin(drive, cdp);
      await followPage(drive, cdp);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CdpClosed) && !isPageTrouble(error)) throw error;
      await sleep(lookMs, undefined, { signal });
    }
  }
  throw failed("browser_ended");
};

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

/** Writes into the connection what came of a login. */
const noteOutcome = async (drive: Drive, ended: Ended): Promise<void> => {
  const { deps, connection, project, flow, stored } = drive;
  if (ended.status === "SUCCESS") {
    const annotations = {
      [authenticatedAtAnnotation]: new Date().toISOString(),
      [postLoginUrlAnnotation]: ended.detail ?? null,
    };
    await deps.kube.patch(authConnectionKind, connection.metadata, { metadata: { annotations } });
    await noteAttempts(connection, { mark: stored.mark, count: 0 }, deps);
    await deps.inbox.save(flow.id, connection, project);
  }
  if (ended.code === "account_locked") await noteAttempts(connection, { mark: stored.mark, count: mostAttempts }, deps);
};

const outcomeOf = ({ status, code, detail }: Ended): Partial<LoginFlow> => ({
  status,
  step: "COMPLETED",
  completedMs: Date.now(),
  fields: [],
  choices: [],
  interactionId: undefined,
  externalMessage: undefined,
  ...(code && {
    errorCode: code,
    errorMessage: detail && code !== "internal_error" ? `${texts[code]}: ${detail}`.slice(0, 300) : texts[code],
  }),
  ...(code === "account_locked" && { websiteError: "the account is locked" }),
  ...(code === "credentials_rejected" && { websiteError: "the site did not take what was typed" }),
  ...(status === "SUCCESS" && { websiteError: undefined, ...(detail && { postLoginUrl: detail }) }),
});

const finish = async (drive: Drive, ended: Ended): Promise<void> => {
  const { deps, project, signal } = drive;
  const { session } = drive.flow;
  let outcome = ended;
  if (session && ended.status === "SUCCESS") {
    await write(drive, { step: "SUBMITTING", fields: [], choices: [], externalMessage: undefined });
    if (!(await keepLoginBrowser(session, project, deps, signal))) outcome = failed("profile_not_saved");
  } else if (session) await endLoginBrowser(session, project, deps);
  if (outcome.status !== "CANCELED") await noteOutcome(drive, outcome);
  await write(drive, outcomeOf(outcome));
  const { type: kind, connectionId } = drive.flow;
  deps.log.info({ connection: connectionId, kind, outcome: outcome.status, code: outcome.code }, "a login is over");
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
