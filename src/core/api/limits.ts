import type { Kube } from "../../platform/kube/client.ts";
import type { Config } from "../config/config.ts";
import { routesWith } from "../http/route.ts";
import { cachedProject } from "../projects/cached-project.ts";
import { updateProjectLimits } from "../projects/change-projects.ts";
import {
  fetchOrganizationLimits,
  type OrganizationUse,
  updateOrganizationLimits,
} from "../projects/organization-limits.ts";
import type { Projects } from "../projects/projects.ts";
import {
  OrganizationLimitsWire,
  organizationLimitsAnswer,
  ProjectLimitsWire,
  projectLimitsAnswer,
  UpdateOrganizationLimits,
  UpdateProjectLimits,
} from "./org-wire.ts";
import { ProjectParams } from "./projects.ts";

type Deps = { config: Config; kube: Kube; organizationUse(): Promise<OrganizationUse>; projects: Projects };
const defineRoute = routesWith<Deps>();

const tag = "Limits";
const scope = "organization";
const projectPath = "/org/projects/{id}/limits";

const OrganizationLimits = { description: "The organization's limits", schema: OrganizationLimitsWire };
const ProjectLimits = { description: "The project's own limits", schema: ProjectLimitsWire };

export const getOrganizationLimitsRoute = defineRoute(
  {
    method: "get",
    path: "/org/limits",
    operationId: "getOrganizationLimits",
    tag,
    scope,
    permission: "organization",
    summary: "Get the organization's limits",
    answers: { 200: OrganizationLimits },
    errors: [],
  },
  async ({ deps }) => {
    const [limits, use] = await Promise.all([fetchOrganizationLimits(deps), deps.organizationUse()]);
    return { status: 200, body: organizationLimitsAnswer(limits, use, deps.config) };
  },
);

export const updateOrganizationLimitsRoute = defineRoute(
  {
    method: "patch",
    path: "/org/limits",
    operationId: "updateOrganizationLimits",
    tag,
    scope,
    permission: "organization",
    summary: "Set the default limit of projects",
    body: UpdateOrganizationLimits,
    answers: { 200: OrganizationLimits },
    errors: ["bad_request"],
  },
  async ({ body, deps }) => {
    const limits = await updateOrganizationLimits(body.default_project_max_concurrent_sessions, deps);
    return { status: 200, body: organizationLimitsAnswer(limits, await deps.organizationUse(), deps.config) };
  },
);

export const getProjectLimitsRoute = defineRoute(
  {
    method: "get",
    path: projectPath,
    operationId: "getProjectLimits",
    tag,
    scope,
    permission: "organization",
    summary: "Get a project's own limits",
    params: ProjectParams,
    answers: { 200: ProjectLimits },
    errors: ["project_not_found"],
  },
  async ({ params, deps }) => ({ status: 200, body: projectLimitsAnswer(cachedProject(params.id, deps)) }),
);

export const updateProjectLimitsRoute = defineRoute(
  {
    method: "patch",
    path: projectPath,
    operationId: "updateProjectLimits",
    tag,
    scope,
    permission: "organization",
    summary: "Change a project's own limits",
    params: ProjectParams,
    body: UpdateProjectLimits,
    answers: { 200: ProjectLimits },
    errors: ["bad_request", "project_not_found"],
  },
  async ({ params, body, deps }) => {
    const { max_concurrent_sessions: maxConcurrentSessions, max_concurrent_invocations: maxConcurrentInvocations } =
      body;
    const project = await updateProjectLimits(params.id, { maxConcurrentSessions, maxConcurrentInvocations }, deps);
    return { status: 200, body: projectLimitsAnswer(project) };
  },
);
