/** Which project is looked at. A key of a project has one; a key of the organization chooses. */
import { effect, signal } from "@preact/signals";
import { go, path, projectInAddress, to } from "../router.ts";
import { project, readList } from "../service/api.ts";
import { may, type SignedIn } from "../service/session.ts";
import { plainText, Text } from "./text.tsx";

type Project = { id: string; name: string; status: string };

const projects = signal<readonly Project[]>([]);

/** Takes the project from the address, and reads which ones there are. */
export const chooseProject = (signedIn: SignedIn): (() => void) => {
  const stop = effect(() => {
    const chosen = projectInAddress() ?? signedIn.project?.id;
    if (chosen !== project.peek()) project.value = chosen;
  });
  const gone = new AbortController();
  if (may("organization"))
    readList<Project>("/org/projects", {}, gone.signal).then(
      (all) => {
        projects.value = all.filter(({ status }) => status === "active");
      },
      () => undefined,
    );
  return () => {
    stop();
    gone.abort();
  };
};

/** The choice, or the name of the one project. */
export const ProjectChoice = ({ signedIn }: { signedIn: SignedIn }) => {
  const own = signedIn.project;
  const known = projects.value;
  if (known.length < 2)
    return (
      <span class="project">
        <span class="unseen">Project </span>
        <Text of={own?.name ?? "no project"} />
      </span>
    );
  return (
    <select
      class="project"
      aria-label="Project"
      value={project.value ?? ""}
      onChange={({ currentTarget }) => {
        const view = path.value.split("/").slice(1, 2).filter(Boolean);
        go(to(view, { project: currentTarget.value }));
      }}
    >
      {known.map(({ id, name }) => (
        <option key={id} value={id}>
          {plainText(name)}
        </option>
      ))}
    </select>
  );
};
