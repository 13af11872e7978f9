/** The end of a login: what is thrown to end it, and what is written, kept and told then. */
import {
  authConnectionKind,
  authenticatedAtAnnotation,
  postLoginUrlAnnotation,
} from "../connections/auth-connection.ts";
import { mostAttempts, noteAttempts } from "./attempts.ts";
import { type Drive, write } from "./drive.ts";
import type { FlowError, LoginFlow } from "./flow.ts";
import { endLoginBrowser, keepLoginBrowser } from "./login-browser.ts";

/** The login has ended, and how. */
export class Ended extends Error {
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

/** An end by a failure. `detail`: what the caller is told besides. */
export const failed = (code: FlowError, detail?: string): Ended => new Ended("FAILED", code, detail);

const texts: Record<FlowError, string> = {
  account_locked: "the site says that the account is locked; it is not tried again until the credential changes",
  browser_ended: "the browser ended before the login did",
  browser_not_started: "there was no browser for the login",
  credential_provider_refused: "the credential provider does not let in",
  credential_provider_unavailable: "the credential provider does not answer now",
  credential_unreadable: "the stored login could not be read until the login's time was over",
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

/** What is written of a login that is over. */
export const outcomeOf = ({ status, code, detail }: Ended): Partial<LoginFlow> => ({
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
  postLoginUrl: status === "SUCCESS" ? detail : undefined,
  ...(status === "SUCCESS" && { websiteError: undefined }),
});

/** Ends a login and its browser, and keeps the browser's state after a success. */
export const finish = async (drive: Drive, ended: Ended): Promise<void> => {
  const { deps, project, signal } = drive;
  const { session } = drive.flow;
  let outcome = ended;
  if (session && ended.status === "SUCCESS") {
    await write(drive, {
      step: "SUBMITTING",
      fields: [],
      choices: [],
      externalMessage: undefined,
      isIn: true,
      postLoginUrl: ended.detail,
    });
    if (!(await keepLoginBrowser(session, project, deps, signal))) outcome = failed("profile_not_saved");
  } else if (session) await endLoginBrowser(session, project, deps);
  if (outcome.status !== "CANCELED") await noteOutcome(drive, outcome);
  await write(drive, outcomeOf(outcome));
  const { type: kind, connectionId } = drive.flow;
  deps.log.info({ connection: connectionId, kind, outcome: outcome.status, code: outcome.code }, "a login is over");
};
