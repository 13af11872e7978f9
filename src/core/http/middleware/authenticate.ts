import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../../platform/base/errors.ts";
import type { Principal } from "../../api-keys/api-keys.ts";
import type { Permission } from "../../model/permission.ts";
import type { Project, Projects } from "../../projects/projects.ts";
import { consoleCookieOf, consoleSession } from "../console-session.ts";

/** The bearer token of a request, or undefined. */
export const bearerToken = ({ authorization = "" }: IncomingHttpHeaders): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization)?.[1];

type CallerDeps = Parameters<typeof consoleSession>[1];

/** What a request shows of its caller: an API key, or the cookie of the console; "" for neither. */
export const credentialOf = (headers: IncomingHttpHeaders, { config }: Pick<CallerDeps, "config">): string =>
  bearerToken(headers) ?? consoleCookieOf(headers, config) ?? "";

/** The principal of a request's API key, or of the session of the console. Throws `unauthorized`. */
export const authenticate = (headers: IncomingHttpHeaders, deps: CallerDeps): Principal => {
  const token = bearerToken(headers);
  if (!token) {
    const session = consoleSession(headers, deps);
    if (session) return session.principal;
    if (credentialOf(headers, deps)) throw new AppError("unauthorized", "the session has ended; sign in again");
    throw new AppError("unauthorized", "give an API key: Authorization: Bearer <key>");
  }
  const principal = deps.apiKeys.authenticate(token);
  if (!principal) throw new AppError("unauthorized", "this API key is not known, or it has expired");
  return principal;
};

/** The headers that name the project of a request, by id or by name (AUTH-4, AUTH-17). */
const projectHeaders = ["X-Kernel-Project-Id", "X-Kernel-Project"] as const;

/**
 * The project of a request. Throws `forbidden`, `project_not_found`, or `bad_request` when its two headers name
 * different ones.
 */
export const resolveProject = (
  headers: IncomingHttpHeaders,
  { scope }: Principal,
  { projects, defaultProject }: { projects: Pick<Projects, "find">; defaultProject: string },
): Project => {
  const own = scope.kind === "project" ? scope.projectId : undefined;
  const named = projectHeaders.map((name) => String(headers[name.toLowerCase()] ?? "")).filter((text) => text !== "");
  const wanted = named.length > 0 ? named : [own ?? defaultProject];
  const found = wanted.map((idOrName) => projects.find(idOrName));
  const ids = new Set(wanted.map((idOrName, index) => found[index]?.id ?? idOrName));
  if (own !== undefined && [...ids].some((id) => id !== own))
    throw new AppError("forbidden", "this API key is for another project");
  if (ids.size > 1)
    throw new AppError("bad_request", `${projectHeaders.join(" and ")} name different projects; send one of them`);
  const [project] = found;
  if (project?.status !== "active") throw new AppError("project_not_found", `no active project ${wanted[0]}`);
  return project;
};

/**
 * Throws `forbidden` for a key without the permission; undefined: any key will do. A key of one project never has
 * `organization`.
 */
export const requirePermission = ({ permissions, scope }: Principal, permission: Permission | undefined): void => {
  if (permission === undefined || permissions.has(permission)) return;
  const isForeign = permission === "organization" && scope.kind === "project";
  throw new AppError(
    "forbidden",
    isForeign
      ? "this needs the permission organization, which only an API key of the organization can have; this one is for one project"
      : `this API key lacks the permission ${permission}`,
  );
};
