/** The API keys of the organization. */
import { useState } from "preact/hooks";
import type { Form } from "../parts/form.tsx";
import { KeyShown } from "../parts/key-shown.tsx";
import { ObjectList } from "../parts/object-list.tsx";
import type { Column } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call, readList } from "../service/api.ts";
import type { ApiKey, CreatedApiKey, Project } from "../service/org.ts";
import { permissionOptions } from "../service/permission-options.ts";
import { may } from "../service/session.ts";
import { useFresh } from "../service/use-fresh.ts";

const levelOf = ({ project_id, project_name }: ApiKey): string =>
  project_id === null ? "the organization" : (project_name ?? project_id);

const columns: readonly Column<ApiKey>[] = [
  {
    key: "name",
    title: "Key",
    cell: ({ id, name }) => (
      <a href={to(["api-keys", id])}>
        <Text of={name} />
      </a>
    ),
    sortBy: ({ name }) => name.toLowerCase(),
  },
  { key: "level", title: "Of", cell: (key) => <Text of={levelOf(key)} />, sortBy: levelOf },
  { key: "masked", title: "Looks like", cell: ({ masked_key }) => <Text of={masked_key} mono />, isLow: true },
  {
    key: "rights",
    title: "Permissions",
    cell: ({ permissions }) => permissions.length,
    sortBy: ({ permissions }) => permissions.length,
    isNumber: true,
  },
  {
    key: "expires",
    title: "Expires",
    cell: ({ expires_at }) => <Time at={expires_at} />,
    sortBy: ({ expires_at }) => expires_at ?? "~",
  },
  {
    key: "made",
    title: "Made",
    cell: ({ created_at }) => <Time at={created_at} />,
    sortBy: ({ created_at }) => created_at,
    isLow: true,
  },
];

const make = (projects: readonly Project[], onMade: (made: CreatedApiKey) => void): Form => ({
  title: "Make an API key",
  intro: "Give a key no more than it needs. It can't have more than the key that you are signed in with.",
  fields: ({ project_id = "", is_whole = true }) => [
    { name: "name", label: "Name", hint: "Who or what uses it.", isRequired: true },
    {
      ...{ name: "project_id", label: "Level", kind: "choice" },
      options: [
        { value: "", text: "the whole organization" },
        ...projects.map(({ id, name }) => ({ value: id, text: name })),
      ],
    },
    {
      name: "days_to_expire",
      label: "Days until it expires",
      kind: "number",
      min: 1,
      max: 3650,
      hint: "Left empty: it does not.",
    },
    { name: "is_whole", label: "It may do all of its level", kind: "flag", initial: true },
    {
      ...{ name: "permissions", label: "It may", kind: "flags", isLeftOut: is_whole === true },
      options: permissionOptions((name) => may(name) && (project_id === "" || name !== "organization")),
    },
  ],
  action: "Make the key",
  async send({ is_whole, permissions, ...rest }) {
    const body = { ...rest, ...(is_whole !== true && { permissions: permissions ?? [] }) };
    onMade(await call<CreatedApiKey>("POST", "/org/api_keys", { body }));
    return {};
  },
});

/** All keys that are not deleted. */
export const View = () => {
  const [made, setMade] = useState<CreatedApiKey>();
  const { data: projects = [] } = useFresh(
    "projects",
    (signal) => readList<Project>("/org/projects", {}, signal),
    undefined,
  );
  const active = projects.filter(({ status }) => status === "active");
  return (
    <ObjectList<ApiKey>
      title="API keys"
      one="key"
      path="/org/api_keys"
      columns={columns}
      keyOf={({ id }) => id}
      textOf={(key) => `${plainText(key.name)} ${levelOf(key)} ${key.masked_key} ${key.id}`}
      lead="Programs and people show a key with each request."
      make={{ permission: "organization", word: "Make a key", form: make(active, setMade) }}
    >
      {made && <KeyShown made={made} close={() => setMade(undefined)} />}
    </ObjectList>
  );
};
