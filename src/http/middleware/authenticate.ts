import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../errors.ts";
import type { Permission } from "../../resources/permission.ts";
import type { ApiKeys, Principal } from "../../services/api-keys/api-keys.ts";
import type { Project, Projects } from "../../services/projects/projects.ts";

/** The bearer token of a request, or undefined. */
export const bearerToken = ({ authorization = "" }: IncomingHttpHeaders): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization)?.[1];

/** The principal of a request's API key. Throws `unauthorized`. */
export const authenticate = (headers: IncomingHttpHeaders, apiKeys: ApiKeys): Principal => {
  const token = bearerToken(headers);
  if (!token) throw new AppError("unauthorized", "give an API key: Authorization: Bearer <key>");
  const principal = apiKeys.authenticate(token);
  if (!principal) throw new AppError("unauthorized", "this API key is not known, or it has expired");
  return principal;
};

/** The header that names the project of a request (AUTH-4). */
const projectHeader = "x-kernel-project-id";

/** The project of a request. Throws `forbidden` or `project_not_found`. */
export const resolveProject = (
  headers: IncomingHttpHeaders,
  principal: Principal,
  { projects, defaultProject }: { projects: Projects; defaultProject: string },
): Project => {
  const named = headers[projectHeader];
  const own = principal.scope.kind === "project" ? principal.scope.projectId : undefined;
  const wanted = typeof named === "string" && named !== "" ? named : (own ?? defaultProject);
  const project = projects.find(wanted);
  if (own !== undefined && (project?.id ?? wanted) !== own)
    throw new AppError("forbidden", "this API key is for another project");
  if (project?.status !== "active") throw new AppError("project_not_found", `no active project ${wanted}`);
  return project;
};

/** Throws `forbidden` for a key without the permission. A key of one project never has `organization`. */
export const requirePermission = ({ permissions, scope }: Principal, permission: Permission): void => {
  if (permissions.has(permission)) return;
  const isForeign = permission === "organization" && scope.kind === "project";
  throw new AppError(
    "forbidden",
    isForeign
      ? "this needs the permission organization, which only an API key of the organization can have; this one is for one project"
      : `this API key lacks the permission ${permission}`,
  );
};
