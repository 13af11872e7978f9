import { z } from "zod";
import type { Kube } from "../../platform/kube/client.ts";
import type { Config } from "../config/config.ts";
import { isWanted, Paging, pageOf } from "../http/paging.ts";
import { routesWith } from "../http/route.ts";
import type { Browser } from "../model/browsers/browser.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { cachedVisibleProject } from "../projects/cached-project.ts";
import { createProject, updateProject } from "../projects/change-projects.ts";
import { deleteProject, type ProjectContents } from "../projects/delete-project.ts";
import type { Projects } from "../projects/projects.ts";
import { endSessionsOf } from "../sessions/end-sessions-of.ts";
import type { EndSessionDeps } from "../sessions/release-browser.ts";
import { CreateProject, ProjectWire, projectAnswer, UpdateProject } from "./org-wire.ts";

type Deps = EndSessionDeps & {
  browsers: WatchedObjects<Browser>;
  config: Config;
  contents: readonly ProjectContents[];
  kube: Kube;
  pools: WatchedObjects<BrowserPool>;
  projects: Projects;
};
const defineRoute = routesWith<Deps>();

const tag = "Projects";
const scope = "organization";
const path = "/org/projects/{id}";

export const ProjectParams = z.object({ id: z.string().min(1).max(1024).describe("The project's id or name.") });
const theProject = { description: "The project", schema: ProjectWire };

export const createProjectRoute = defineRoute(
  {
    method: "post",
    path: "/org/projects",
    operationId: "createProject",
    tag,
    scope,
    permission: "organization",
    summary: "Create a project",
    body: CreateProject,
    answers: { 201: theProject },
    errors: ["bad_request", "name_taken"],
  },
  async ({ body, deps }) => ({ status: 201, body: projectAnswer(await createProject(body, deps)) }),
);

export const listProjectsRoute = defineRoute(
  {
    method: "get",
    path: "/org/projects",
    operationId: "listProjects",
    tag,
    scope,
    permission: "organization",
    summary: "List projects, the oldest first",
    query: Paging.extend({
      name: z.string().max(1024).optional().describe("Only the project of exactly this name."),
      query: z.string().max(1024).optional().describe("Part of the name in any case, or the exact id."),
    }),
    answers: { 200: { description: "The projects, archived ones too", schema: z.array(ProjectWire) } },
    errors: ["bad_request"],
  },
  async ({ query, deps }) => {
    const wanted = deps.projects.list().filter((project) => isWanted(project, query));
    const page = pageOf(wanted, query);
    return { ...page, body: page.body.map(projectAnswer) };
  },
);

export const getProjectRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getProject",
    tag,
    scope: "project",
    permission: "pools:read",
    summary: "Get a project; a key of one project can only get that one",
    params: ProjectParams,
    answers: { 200: theProject },
    errors: ["forbidden", "project_not_found"],
  },
  async ({ params, principal, deps }) => ({
    status: 200,
    body: projectAnswer(cachedVisibleProject(params.id, principal, deps)),
  }),
);

export const updateProjectRoute = defineRoute(
  {
    method: "patch",
    path,
    operationId: "updateProject",
    tag,
    scope,
    permission: "organization",
    summary: "Rename, archive or reactivate a project",
    params: ProjectParams,
    body: UpdateProject,
    answers: { 200: theProject },
    errors: ["bad_request", "project_not_found", "name_taken", "conflict"],
  },
  async ({ params, body, deps }) => {
    const project = await updateProject(params.id, body, deps);
    // PROJECT-12, also when a call that archived it before has ended some of them only.
    if (body.status === "archived") await endSessionsOf(project, deps);
    return { status: 200, body: projectAnswer(project) };
  },
);

export const deleteProjectRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteProject",
    tag,
    scope,
    permission: "organization",
    summary: "Delete an empty project",
    params: ProjectParams,
    answers: { 204: { description: "Done" } },
    errors: ["project_not_found", "conflict"],
  },
  async ({ params, deps }) => {
    await deleteProject(params.id, deps);
    return { status: 204 };
  },
);
