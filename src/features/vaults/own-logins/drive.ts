/** One login while this replica drives it: what it knows of it, and how it writes what has changed. */
import type { Project } from "../../../core/projects/projects.ts";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import type { AuthConnection } from "../connections/auth-connection.ts";
import type { LoginFlow } from "./flow.ts";
import type { OwnLoginDeps } from "./own-logins.ts";
import type { LoginMemory } from "./reading/login-memory.ts";
import { isAllowedPage } from "./rules/allowed-pages.ts";
import type { StoredForLogin } from "./stored-for-login.ts";

/** Another replica drives the login, or it has ended. */
export class NotMine extends Error {}

export type Drive = {
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
export const write = async (drive: Drive, changes: Partial<LoginFlow>): Promise<void> => {
  const { uid, deps, flow } = drive;
  const { version, ...before } = flow;
  const { typed, rejected, unsent } = drive.memory;
  const after = {
    ...before,
    ...changes,
    typed: [...typed],
    rejected: [...rejected],
    unsent: unsent.size > 0 ? [...unsent] : undefined,
    updatedMs: Date.now(),
  };
  const written = await deps.flows.write(uid, version, after);
  if (!written) throw new NotMine();
  drive.flow = written;
};

/** Whether values may be typed into pages of an origin. */
export const isAllowed =
  ({ connection: { spec }, stored: { allowedOrigins } }: Drive) =>
  (origin: string): boolean =>
    isAllowedPage(origin, spec, allowedOrigins);
