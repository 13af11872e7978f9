/** Requests and answers about the organization: projects, limits, API keys. Field names as on the wire. */
import { z } from "zod";
import { closedObject, notTogether } from "../../platform/kinds/document-rules.ts";
import { reservedMessage, reservedName } from "../../platform/kinds/selector.ts";
import { grantedTo } from "../api-keys/api-key-secret.ts";
import type { ApiKeyView } from "../api-keys/list-api-keys.ts";
import type { CallerBound, Config } from "../config/config.ts";
import { PermissionList, permissions } from "../model/permission.ts";
import {
  minHealthCheckSeconds,
  type OrganizationLimits,
  type OrganizationUse,
} from "../projects/organization-limits.ts";
import type { Project } from "../projects/projects.ts";

/**
 * The name of a project or of a key. Each is found by its id before its name, and must be reachable by a URL (HTTP-33).
 *
 * 1 to 255 code points (the `u` flag makes `{}` count them), without control characters. The pattern names these one by
 * one: not every reader of the document knows classes such as Cc.
 */
const nameMessage = "must have 1 to 255 characters, no control characters";
const name = z
  .string()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it keeps out
  .regex(/^[^\u0000-\u001f\u007f-\u009f]{1,255}$/u, nameMessage)
  .refine((text) => !reservedName.test(text), reservedMessage);

/** A cap in a request: 0 and null remove it. */
const cap = z.int().min(0).max(2_147_483_647).nullable().optional();
const knownCap = z.int().min(1).nullable();

const days = (min: number) => z.int().min(min).max(3650).nullable().optional();

/**
 * A body with no other fields (AUTH-18): one about rights, time or limits that were dropped would leave more than was
 * asked for.
 */
const closed = <Shape extends z.ZodRawShape>(shape: Shape) => closedObject(z.strictObject(shape));

/** A flag in a query: `true` or `false`, as text. */
export const flag = z.preprocess((text) => (text === "true" ? true : text === "false" ? false : text), z.boolean());

export const ProjectWire = z.object({
  id: z.string().describe("The project's id."),
  name: z.string().describe("The project's name."),
  status: z.enum(["active", "archived"]).describe("Requests to an archived project are refused; its sessions end."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Unknown fields are refused here and below: none about rights or limits is dropped. */
export const CreateProject = closed({ name: name.describe("The project's name, unique in the organization.") });

/** A change of a project; what is left out stays. */
export const UpdateProject = closed({
  name: name.optional().describe("The new name."),
  status: z.enum(["active", "archived"]).optional().describe("The new status."),
});

/** A project as answers show it. */
export const projectAnswer = ({ id, name, status, createdAt, updatedAt }: Project): z.input<typeof ProjectWire> => ({
  id,
  name,
  status,
  created_at: createdAt,
  updated_at: updatedAt,
});

export const ProjectLimitsWire = z.object({
  max_concurrent_sessions: knownCap.describe("Browsers at once in this project; null: no cap of its own."),
  max_concurrent_invocations: knownCap.describe("App invocations at once in this project; null: no cap."),
  max_pooled_sessions: z.null().describe("Deprecated: pooled browsers count as sessions. Always null."),
});

/** A change of a project's limits; what is left out stays. */
export const UpdateProjectLimits = closed({
  max_concurrent_sessions: cap.describe("Browsers at once. 0 or null removes the cap."),
  max_concurrent_invocations: cap.describe("App invocations at once. 0 or null removes the cap."),
  max_pooled_sessions: z
    .literal([0, null], "is deprecated: pooled browsers count as max_concurrent_sessions")
    .optional()
    .describe("Deprecated: only 0 and null are accepted, and change nothing."),
});

/** The project's own caps as answers show them: null for none. */
export const projectLimitsAnswer = (project: Project): z.input<typeof ProjectLimitsWire> => ({
  max_concurrent_sessions: project.maxConcurrentSessions ?? null,
  max_concurrent_invocations: project.maxConcurrentInvocations ?? null,
  max_pooled_sessions: null,
});

const callerBound = (what: string) =>
  z
    .object({ per_key: z.int().min(1), per_project: z.int().min(1) })
    .describe(`${what}, of one API key and of one project; set by configuration.`);

export const OrganizationLimitsWire = z.object({
  max_concurrent_sessions: z
    .int()
    .min(1)
    .describe("Browsers at once in all projects together, pooled and on demand; set by configuration."),
  max_pooled_sessions: z.int().min(1).describe("Sum of the sizes of all pools; set by configuration."),
  max_on_demand_sessions: z.int().min(0).describe("On-demand browsers at once in all projects; set by configuration."),
  default_project_max_on_demand_sessions: z
    .int()
    .min(0)
    .describe("On-demand browsers at once in each project without any cap of sessions; set by configuration."),
  requests_per_second: callerBound("Requests in a second, in each replica of the API"),
  open_requests: callerBound("Open requests, in each replica of the API"),
  waiting_acquires: callerBound("Callers that wait for a browser, in each replica of the API"),
  kept_answer_bytes: callerBound("Bytes of answers that are kept for repetitions with an Idempotency-Key"),
  connections_per_project: z
    .int()
    .min(1)
    .describe("CDP connections of a project's sessions, in each replica of the API; set by configuration."),
  default_project_max_concurrent_sessions: knownCap.describe(
    "Browsers at once in each project that has no cap of its own; null: none.",
  ),
  auth_connections_used: z.int().min(0).describe("Auth connections of all projects together."),
  max_auth_connections: z.null().describe("Always null: their number has no limit of the organization."),
  vaults_used: z.int().min(0).describe("Vaults of all projects together."),
  max_vaults: z.null().describe("Always null: their number has no limit of the organization."),
  min_health_check_interval_seconds: z
    .int()
    .describe("Least health_check_interval; any is refused where logins are not checked periodically."),
});

/** A change of the organization's limits; what is left out stays. */
export const UpdateOrganizationLimits = closed({
  default_project_max_concurrent_sessions: cap.describe(
    "At most the organization's limit. 0 or null removes the default.",
  ),
});

const boundAnswer = ({ key, project }: CallerBound): { per_key: number; per_project: number } => ({
  per_key: key,
  per_project: project,
});

/** The organization's limits as answers show them: null for no default cap. */
export const organizationLimitsAnswer = (
  limits: OrganizationLimits,
  { authConnections, vaults }: OrganizationUse,
  { limits: configured, callers }: Pick<Config, "limits" | "callers">,
): z.input<typeof OrganizationLimitsWire> => ({
  max_concurrent_sessions: limits.maxConcurrentSessions,
  max_pooled_sessions: configured.pooledSessions,
  max_on_demand_sessions: configured.onDemandSessions,
  default_project_max_on_demand_sessions: Math.min(configured.projectOnDemandSessions, configured.onDemandSessions),
  requests_per_second: boundAnswer(callers.requestsPerSecond),
  open_requests: boundAnswer(callers.openRequests),
  waiting_acquires: boundAnswer(callers.waitingAcquires),
  kept_answer_bytes: boundAnswer(callers.keptAnswerBytes),
  connections_per_project: callers.connections,
  default_project_max_concurrent_sessions: limits.defaultProjectMaxConcurrentSessions ?? null,
  auth_connections_used: authConnections,
  max_auth_connections: null,
  vaults_used: vaults,
  max_vaults: null,
  min_health_check_interval_seconds: minHealthCheckSeconds,
});

export const ApiKeyWire = z.object({
  id: z.string().describe("The key's id."),
  name: z.string().describe("The key's label; not unique."),
  masked_key: z.string().describe("The first and last characters of the key."),
  project_id: z.string().nullable().describe("The key's project; null: a key of the organization."),
  project_name: z.string().nullable().describe("The project's name; null also when the project is gone."),
  created_at: z.iso.datetime(),
  created_by: z
    .object({
      id: z.string().describe("Id of the creating key, or system."),
      email: z.string().describe("Always empty: keys are made with keys, not by users."),
      name: z.string().nullable().describe("Name of the creating key, if known."),
    })
    .describe("The key that made this key."),
  permissions: z.array(z.enum(permissions)).describe("What the key may do; docs/permissions.md."),
  expires_at: z.iso.datetime().nullable(),
  deleted_at: z.iso.datetime().nullable(),
});

export const CreatedApiKeyWire = ApiKeyWire.extend({ key: z.string().describe("The key itself; shown only now.") });

const createApiKeyFields = {
  name: name.describe("The key's label."),
  days_to_expire: days(1).describe("Lifetime in days; null: for ever. Not together with expires_at."),
  expires_at: z.iso
    .datetime({ offset: true, error: "must be a time of RFC 3339, such as 2030-01-01T00:00:00Z" })
    .nullable()
    .optional()
    .describe(
      "When the key expires; null: never. In the future, within 3650 days, and not after the creating key expires.",
    ),
  project_id: z.string().min(1).max(63).nullable().optional().describe("The key's project; null: the organization."),
  permissions: PermissionList.nullable()
    .optional()
    .describe("What the key may do; left out or null: all of its level. At most what the creating key may do."),
};

/** A key without a time of either kind never expires, so null asks for nothing. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** `days_to_expire` and `expires_at` exclude each other; neither: the key never expires. */
export const CreateApiKey = notTogether(
  closedObject(
    z.strictObject(createApiKeyFields).refine((given) => !isGiven(given.days_to_expire) || !isGiven(given.expires_at), {
      error: "give days_to_expire or expires_at, not both",
      path: ["expires_at"],
    }),
  ),
  { days_to_expire: { type: "integer" }, expires_at: { type: "string" } },
);

/** A change of a key: its name, its permissions, or both. */
export const UpdateApiKey = closedObject(
  z
    .strictObject({
      name: name.optional().describe("The new label."),
      permissions: PermissionList.nullable()
        .optional()
        .describe(
          "What the key may do from now on; null: all of its level. Adds at most what the changing key may do.",
        ),
    })
    .refine(({ name, permissions: list }) => name !== undefined || list !== undefined, "give name or permissions"),
);

/** How long the new key lasts, and the old one beside it. */
export const RotateApiKey = closed({
  days_to_expire: days(1).describe("Lifetime of the new key; null: for ever. Left out: as the old key was made."),
  expire_in_days: days(0).describe("Days for which the old key still works. Left out: 7."),
});

/** A key as answers show it, without the key itself. */
export const apiKeyAnswer = (key: ApiKeyView): z.input<typeof ApiKeyWire> => ({
  id: key.id,
  name: key.name,
  masked_key: key.maskedKey,
  project_id: key.projectId ?? null,
  project_name: key.projectName ?? null,
  created_at: key.createdAt,
  created_by: { id: key.createdBy, email: "", name: key.creatorName ?? null },
  permissions: [...grantedTo(key)],
  expires_at: key.expiresAt ?? null,
  deleted_at: key.deletedAt ?? null,
});
