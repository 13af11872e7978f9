/** The projects of the organization. */
import type { Form } from "../parts/form.tsx";
import { ObjectList } from "../parts/object-list.tsx";
import { State } from "../parts/state.tsx";
import type { Column } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call } from "../service/api.ts";
import type { Project } from "../service/org.ts";

const columns: readonly Column<Project>[] = [
  {
    key: "name",
    title: "Project",
    cell: ({ id, name }) => (
      <a href={to(["projects", id])}>
        <Text of={name} />
      </a>
    ),
    sortBy: ({ name }) => name.toLowerCase(),
  },
  {
    key: "status",
    title: "State",
    cell: ({ status }) =>
      status === "active" ? <State tone="good">Active</State> : <State tone="quiet">Archived</State>,
    sortBy: ({ status }) => status,
  },
  { key: "id", title: "Id", cell: ({ id }) => <Text of={id} mono />, isLow: true },
  {
    key: "made",
    title: "Made",
    cell: ({ created_at }) => <Time at={created_at} />,
    sortBy: ({ created_at }) => created_at,
  },
];

const make: Form = {
  title: "Make a project",
  intro: "Nothing of one project is seen or reached from another one.",
  fields: [{ name: "name", label: "Name", hint: "Any text; no other project may have it.", isRequired: true }],
  action: "Make the project",
  async send({ name }) {
    const project = await call<Project>("POST", "/org/projects", { body: { name } });
    return { said: `Project ${plainText(project.name)} is there.`, next: to(["projects", project.id]) };
  },
};

/** All projects. */
export const View = () => (
  <ObjectList<Project>
    title="Projects"
    one="project"
    path="/org/projects"
    columns={columns}
    keyOf={({ id }) => id}
    textOf={({ name, id }) => `${name} ${id}`}
    lead="A project keeps what one team has apart from what others have."
    make={{ permission: "organization", word: "Make a project", form: make }}
  />
);
