/** The profiles of the project. */
import type { ProfileAnswer } from "../../../../core/model/sessions/session-wire.ts";
import type { Form } from "../parts/form.tsx";
import { ObjectList } from "../parts/object-list.tsx";
import type { Column } from "../parts/table.tsx";
import { Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call } from "../service/api.ts";
import { nameRule } from "../service/words.ts";

const nameOf = ({ name, id }: ProfileAnswer): string => name ?? id;

const columns: readonly Column<ProfileAnswer>[] = [
  {
    key: "name",
    title: "Profile",
    cell: (profile) => (
      <a href={to(["profiles", profile.id])}>
        <Text of={nameOf(profile)} />
      </a>
    ),
    sortBy: (profile) => nameOf(profile).toLowerCase(),
  },
  {
    key: "used",
    title: "Last used",
    cell: ({ last_used_at }) => <Time at={last_used_at} />,
    sortBy: ({ last_used_at = "" }) => last_used_at,
  },
  {
    key: "changed",
    title: "Changed",
    cell: ({ updated_at }) => <Time at={updated_at} />,
    sortBy: ({ updated_at }) => updated_at,
    isLow: true,
  },
  {
    key: "made",
    title: "Made",
    cell: ({ created_at }) => <Time at={created_at} />,
    sortBy: ({ created_at }) => created_at,
    isLow: true,
  },
];

const make: Form = {
  title: "Make a profile",
  intro: "It is empty until a browser that was started with it saves its state into it.",
  fields: [{ name: "name", label: "Name", hint: nameRule, isRequired: true }],
  action: "Make the profile",
  async send({ name }) {
    const profile = await call<ProfileAnswer>("POST", "/profiles", { body: { name } });
    return { said: `Profile ${nameOf(profile)} is there.`, next: to(["profiles", profile.id]) };
  },
};

/** All profiles. */
export const View = () => (
  <ObjectList<ProfileAnswer>
    title="Profiles"
    one="profile"
    path="/profiles"
    kind="profile"
    columns={columns}
    keyOf={({ id }) => id}
    textOf={(profile) => `${nameOf(profile)} ${profile.id}`}
    lead="A profile keeps the state of a browser (cookies, storage), so that another one starts where it ended."
    make={{ permission: "pools:write", word: "Make a profile", form: make }}
  />
);
