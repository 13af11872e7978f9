/** One project: its state, its limits, and what it uses of them. */
import { AsCodeButton } from "../parts/as-code.tsx";
import { ask } from "../parts/dialog.tsx";
import { Show } from "../parts/fetched.tsx";
import { type Form, FormButton } from "../parts/form.tsx";
import { attempt } from "../parts/notice.tsx";
import { DeleteButton, Facts, ObjectHead, ObjectPage } from "../parts/object-page.tsx";
import { State } from "../parts/state.tsx";
import { plainText } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { UseBar } from "../parts/use-bar.tsx";
import { to } from "../router.ts";
import { ApiError, call, inPath, readList } from "../service/api.ts";
import { type OrganizationLimits, type Project, type ProjectLimits, readUse, type Use } from "../service/org.ts";
import { may } from "../service/session.ts";
import { useFresh } from "../service/use-fresh.ts";

type Changed = { path: string; again: () => void };

const rename = (project: Project, { path, again }: Changed): Form => ({
  title: `Rename ${plainText(project.name)}`,
  fields: [
    {
      name: "name",
      label: "Name",
      hint: "Any text; no other project may have it.",
      isRequired: true,
      initial: project.name,
    },
  ],
  action: "Rename",
  async send({ name }) {
    await call("PATCH", path, { body: { name } });
    again();
    return { said: "The project has its new name." };
  },
});

const Archive = ({ project, path, again }: Changed & { project: Project }) => {
  const name = plainText(project.name);
  const isActive = project.status === "active";
  const change = async (): Promise<void> => {
    const text =
      "Its sessions end, its pools have no browsers, and its keys do nothing until it is active again. All that it has stays.";
    if (isActive && !(await ask({ title: `Archive ${name}?`, text, action: "Archive the project" }))) return;
    const body = { status: isActive ? "archived" : "active" };
    await attempt(() => call("PATCH", path, { body }), isActive ? `${name} is archived.` : `${name} is active again.`);
    again();
  };
  return (
    <button type="button" class={isActive ? "danger" : undefined} onClick={() => void change()}>
      {isActive ? "Archive" : "Make it active again"}
    </button>
  );
};

const changeLimits = (limits: ProjectLimits, { path, again }: Changed): Form => ({
  title: "Change the limits of the project",
  fields: [
    {
      ...{ name: "max_concurrent_sessions", label: "Browsers at once", kind: "number", min: 1 },
      initial: limits.max_concurrent_sessions ?? undefined,
      hint: "Pooled and on demand. Left empty: the organization's default.",
    },
    {
      ...{ name: "max_concurrent_invocations", label: "App invocations at once", kind: "number", min: 1 },
      initial: limits.max_concurrent_invocations ?? undefined,
      hint: "Left empty: no limit.",
    },
  ],
  action: "Save the limits",
  async send(_given, changed) {
    await call("PATCH", `${path}/limits`, { body: changed });
    again();
    return { said: "The limits are changed." };
  },
});

type Read = { limits: ProjectLimits; whole: OrganizationLimits; use: Use | undefined };

const readLimits = async ({ id, status }: Project, signal: AbortSignal): Promise<Read> => {
  const isCounted = status === "active" && may("pools:read");
  const [limits, whole, use] = await Promise.all([
    call<ProjectLimits>("GET", `/org/projects/${inPath(id)}/limits`, { signal }),
    call<OrganizationLimits>("GET", "/org/limits", { signal }),
    isCounted ? readUse(id, signal) : undefined,
  ]);
  return { limits, whole, use };
};

const Limits = ({ project, path }: { project: Project; path: string }) => {
  const fetched = useFresh(
    `limits ${project.id} ${project.status}`,
    (signal) => readLimits(project, signal),
    undefined,
  );
  return (
    <section>
      <div class="view-head">
        <h2>Limits</h2>
        {fetched.data && (
          <FormButton
            word="Change the limits"
            form={changeLimits(fetched.data.limits, { path, again: fetched.again })}
          />
        )}
      </div>
      <Show fetched={fetched}>
        {({ limits, whole, use }) => {
          const own = limits.max_concurrent_sessions;
          const most = own ?? whole.default_project_max_concurrent_sessions;
          return (
            <>
              {use && <UseBar label="Browsers" use={use} most={most} />}
              <p class="muted">
                {own !== null
                  ? `At most ${own} browsers at once, pooled and on demand.`
                  : most !== null
                    ? `At most ${most} browsers at once: the default of the organization.`
                    : `No limit of its own; ${whole.default_project_max_on_demand_sessions} on demand at once, and what the organization has.`}
              </p>
            </>
          );
        }}
      </Show>
    </section>
  );
};

/** Whether this key may see anything that projects have. */
const maySeeProjects = (): boolean => ["pools:read", "vaults:read", "registry:read"].some(may);

const ProjectView = ({ project, again }: { project: Project; again: () => void }) => {
  const path = `/org/projects/${inPath(project.id)}`;
  const { name, id } = project;
  return (
    <>
      <ObjectHead name={name}>
        {project.status === "active" && maySeeProjects() && (
          <a class="button" href={`/console?${new URLSearchParams({ project: id })}`}>
            Look at it
          </a>
        )}
        <a class="button" href={to(["audit"], { of: id })}>
          Who did what
        </a>
        <FormButton word="Rename" form={rename(project, { path, again })} />
        <AsCodeButton
          of={{
            title: `${plainText(name)} as code`,
            curl: { method: "POST", path: "/org/projects", body: { name } },
            sdk: `projects.create({ name: ${JSON.stringify(name)} })`,
          }}
        />
        <Archive {...{ project, path, again }} />
        <DeleteButton
          {...{ name, what: "project", path, next: to(["projects"]) }}
          text="Refused unless it is empty. Its keys go with it."
        />
      </ObjectHead>
      <p>{project.status === "active" ? <State tone="good">Active</State> : <State tone="quiet">Archived</State>}</p>
      <Facts
        of={{
          Id: <span class="mono">{id}</span>,
          Made: <Time at={project.created_at} />,
          Changed: <Time at={project.updated_at} />,
        }}
      />
      <Limits project={project} path={path} />
    </>
  );
};

/** From the list: a key for the organization alone may read no single project. */
const readProject = async (id: string, signal: AbortSignal): Promise<Project> => {
  const found = (await readList<Project>("/org/projects", {}, signal)).find((project) => project.id === id);
  if (!found) throw new ApiError(404, "not_found", "There is no such project.");
  return found;
};

/** The project with this id. */
export const View = ({ id }: { id: string }) => (
  <ObjectPage<Project>
    what="Project"
    path={`/org/projects/${inPath(id)}`}
    load={(signal) => readProject(id, signal)}
    all={{ title: "All projects", address: to(["projects"]) }}
  >
    {(project, again) => <ProjectView project={project} again={again} />}
  </ObjectPage>
);
