import type { KeyObject } from "node:crypto";
import type { Project } from "../../../core/projects/projects.ts";
import { wireId } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { LoginRecord, LoginRequest } from "./auth-connection-wire.ts";
import { refusedRequest } from "./connection-checks.ts";
import { fetchConnection } from "./fetch-connection.ts";
import { newLoginCode } from "./login-code.ts";
import { loginRefusal } from "./rules/connection-spec.ts";

/**
 * Begins a login by a person. The page's URL names the project too, since ids that users give in YAML are unique only within a
 * project. The code follows the `#`: browsers send that part to no server, so it gets into no access log, `Referer` or proxy. The
 * page's script exchanges it. Throws `not_found`, `bad_request` and `not_supported_here`.
 */
export const startLogin = async (
  { id, request, project, baseUrl }: { id: string; request: LoginRequest; project: Project; baseUrl: string },
  deps: { kube: Kube; signingKey: KeyObject },
): Promise<LoginRecord> => {
  const refusal = loginRefusal(request);
  if (refusal) throw refusedRequest(refusal);
  const connection = await fetchConnection(id, project, deps);
  const use = { stage: "code", projectId: project.id, connectionId: wireId(connection) } as const;
  const { code, expiresAtMs } = await newLoginCode({ connection, use }, deps);
  return {
    id: wireId(connection),
    hosted_url: `${baseUrl}/login/${project.id}/${wireId(connection)}#${code}`,
    handoff_code: code,
    flow_type: "LOGIN",
    flow_expires_at: new Date(expiresAtMs).toISOString(),
  };
};
