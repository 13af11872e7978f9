/** The limits of the organization, and what all of its projects use of them. */
import { AsCodeButton } from "../parts/as-code.tsx";
import { Show } from "../parts/fetched.tsx";
import { type Form, FormButton } from "../parts/form.tsx";
import { Facts } from "../parts/object-page.tsx";
import { Text } from "../parts/text.tsx";
import { UseBar } from "../parts/use-bar.tsx";
import { to } from "../router.ts";
import { call, inPath, readList } from "../service/api.ts";
import { type OrganizationLimits, type Project, type ProjectLimits, readUse, type Use } from "../service/org.ts";
import { may } from "../service/session.ts";
import { useFresh } from "../service/use-fresh.ts";
import { bytes } from "../service/words.ts";

/** Projects whose use is read: each is some requests. */
const mostProjects = 50;

type ProjectUse = { project: Project; use: Use; most: number | null };

const readProject = async (project: Project, signal: AbortSignal): Promise<ProjectUse> => {
  const [use, limits] = await Promise.all([
    readUse(project.id, signal),
    call<ProjectLimits>("GET", `/org/projects/${inPath(project.id)}/limits`, { signal }),
  ]);
  return { project, use, most: limits.max_concurrent_sessions };
};

/** One after the other: there may be many. */
const readProjects = async (signal: AbortSignal): Promise<{ projects: ProjectUse[]; isPart: boolean }> => {
  if (!may("pools:read")) return { projects: [], isPart: false };
  const all = (await readList<Project>("/org/projects", {}, signal)).filter(({ status }) => status === "active");
  const projects: ProjectUse[] = [];
  for (const project of all.slice(0, mostProjects)) projects.push(await readProject(project, signal));
  return { projects, isPart: all.length > mostProjects };
};

const change = (limits: OrganizationLimits, again: () => void): Form => ({
  title: "Change the default of projects",
  fields: [
    {
      ...{
        name: "default_project_max_concurrent_sessions",
        label: "Browsers at once in each project",
        kind: "number",
        min: 1,
      },
      initial: limits.default_project_max_concurrent_sessions ?? undefined,
      hint: "Of projects without a limit of their own; at most the organization's. Left empty: no limit.",
    },
  ],
  action: "Save the default",
  async send({ default_project_max_concurrent_sessions = null }) {
    await call("PATCH", "/org/limits", { body: { default_project_max_concurrent_sessions } });
    again();
    return { said: "The default is changed." };
  },
});

const sum = (projects: readonly ProjectUse[], part: keyof Use): number =>
  projects.reduce((total, { use }) => total + use[part], 0);

const Whole = ({ limits, projects }: { limits: OrganizationLimits; projects: readonly ProjectUse[] }) => {
  const [pooled, onDemand] = [sum(projects, "pooled"), sum(projects, "onDemand")];
  return (
    <>
      <UseBar label="Browsers" use={{ pooled, onDemand }} most={limits.max_concurrent_sessions} />
      <UseBar label="In pools" use={{ pooled }} most={limits.max_pooled_sessions} />
      <UseBar label="On demand" use={{ onDemand }} most={limits.max_on_demand_sessions} />
    </>
  );
};

const Projects = ({ projects, byDefault }: { projects: readonly ProjectUse[]; byDefault: number | null }) => (
  <section>
    <h2>Projects</h2>
    {projects.map(({ project, use, most }) => (
      <div key={project.id} class="use-of">
        <a href={to(["projects", project.id])}>
          <Text of={project.name} />
        </a>
        <UseBar label="Browsers" use={use} most={most ?? byDefault} />
      </div>
    ))}
  </section>
);

const pair = (
  { per_key, per_project }: { per_key: number; per_project: number },
  text = (count: number) => count.toLocaleString("en"),
) => `${text(per_key)} of a key, ${text(per_project)} of a project`;

const Bounds = ({ limits }: { limits: OrganizationLimits }) => (
  <section>
    <h2>Limits of callers</h2>
    <p class="muted">They are set by the configuration of the service, and count in each replica of the API.</p>
    <Facts
      of={{
        "Requests in a second": pair(limits.requests_per_second),
        "Open requests": pair(limits.open_requests),
        "Callers that wait for a browser": pair(limits.waiting_acquires),
        "Kept answers": pair(limits.kept_answer_bytes, bytes),
        "CDP connections of a project": limits.connections_per_project.toLocaleString("en"),
        "Vaults (no limit)": limits.vaults_used,
        "Logins (no limit)": limits.auth_connections_used,
      }}
    />
  </section>
);

/** Limits. */
export const View = () => {
  const limits = useFresh("limits", (signal) => call<OrganizationLimits>("GET", "/org/limits", { signal }), undefined);
  const used = useFresh("use of projects", readProjects, undefined);
  return (
    <>
      <div class="view-head">
        <h1 tabIndex={-1}>Limits</h1>
        {limits.data && <FormButton word="Change the default of projects" form={change(limits.data, limits.again)} />}
        <AsCodeButton
          of={{
            title: "Limits as code",
            curl: { method: "GET", path: "/org/limits" },
            sdk: "organization.limits.retrieve()",
          }}
        />
      </div>
      <Show fetched={limits}>
        {(of) => (
          <>
            {may("pools:read") ? (
              <Show fetched={used}>
                {({ projects, isPart }) => (
                  <>
                    {isPart && <p class="counts">The use of the first {mostProjects} projects.</p>}
                    <Whole limits={of} projects={projects} />
                    <Projects projects={projects} byDefault={of.default_project_max_concurrent_sessions} />
                  </>
                )}
              </Show>
            ) : (
              <p class="muted">
                At most {of.max_concurrent_sessions} browsers at once. How many there are needs the permission
                pools:read.
              </p>
            )}
            <Bounds limits={of} />
          </>
        )}
      </Show>
    </>
  );
};
