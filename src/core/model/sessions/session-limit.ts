import type { Problem } from "../../../platform/rules/problem.ts";

/** The problem of a session that shall live longer than the installation allows (LEASE-33). By YAML such a session is shortened. */
export const sessionTooLong = (
  { maxSessionSeconds = 0 }: { maxSessionSeconds?: number | undefined },
  allowedSeconds: number,
): Problem | undefined =>
  maxSessionSeconds > allowedSeconds
    ? { path: "max_session_seconds", message: `above the ${allowedSeconds} s that this installation allows` }
    : undefined;
