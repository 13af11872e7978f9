import type { AgentErrorCode } from "../../../core/agent/agent-reply.ts";
import { CallRefused } from "../../../core/agent/call-routes.ts";

/** What an error of the system means for the holder, by its code. */
const known: Readonly<Record<string, readonly [AgentErrorCode, (path: string) => string]>> = {
  ENOENT: ["missing", (path) => `there is no ${path}`],
  ENOTDIR: ["bad_request", (path) => `${path} is no folder`],
  EISDIR: ["bad_request", (path) => `${path} is a folder`],
  ELOOP: ["bad_request", (path) => `${path} is a link; links are not followed`],
  EEXIST: ["conflict", (path) => `${path} is there already`],
  ENOTEMPTY: ["conflict", (path) => `${path} is not empty`],
  EINVAL: ["bad_request", (path) => `${path} can't be moved into itself`],
  EACCES: ["forbidden", (path) => `${path}: its permissions don't allow this`],
  EPERM: ["forbidden", (path) => `${path}: its permissions don't allow this`],
  ENXIO: ["bad_request", (path) => `${path} is no plain file`],
  ENOSPC: ["disk_full", () => "the disk of the browser is full; delete some files"],
  EDQUOT: ["disk_full", () => "the disk of the browser is full; delete some files"],
};

/** The refusal that an error of the system means; other errors as they are. */
export const refuseBy = (error: unknown, path: string): unknown => {
  const refusal = known[(error as NodeJS.ErrnoException).code ?? ""];
  // A refusal has a code, too.
  return refusal && !(error instanceof CallRefused)
    ? new CallRefused(refusal[0], refusal[1](path), { cause: error })
    : error;
};
