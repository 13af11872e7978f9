/** The extensions of the project. */
import type { ExtensionAnswer } from "../../../extensions/extension.ts";
import type { Form } from "../parts/form.tsx";
import { ObjectList } from "../parts/object-list.tsx";
import type { Column } from "../parts/table.tsx";
import { Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call } from "../service/api.ts";
import { bytes, nameRule } from "../service/words.ts";

const nameOf = ({ name, id }: ExtensionAnswer): string => name ?? id;

const columns: readonly Column<ExtensionAnswer>[] = [
  {
    key: "name",
    title: "Extension",
    cell: (extension) => (
      <a href={to(["extensions", extension.id])}>
        <Text of={nameOf(extension)} />
      </a>
    ),
    sortBy: (extension) => nameOf(extension).toLowerCase(),
  },
  {
    key: "size",
    title: "Size",
    cell: ({ size_bytes }) => bytes(size_bytes),
    sortBy: ({ size_bytes }) => size_bytes,
    isNumber: true,
  },
  { key: "id", title: "Id", cell: ({ id }) => <Text of={id} mono />, isLow: true },
  {
    key: "made",
    title: "Uploaded",
    cell: ({ created_at }) => <Time at={created_at} />,
    sortBy: ({ created_at }) => created_at,
  },
];

const upload: Form = {
  title: "Upload an extension",
  intro:
    "A plain zip file of at most 50 MiB, with manifest.json at its root: zip what is in the folder, not the folder.",
  fields: [
    { name: "name", label: "Name", hint: `${nameRule} Left empty: its id.` },
    { name: "file", label: "Zip file", kind: "file", accept: ".zip,application/zip", isRequired: true },
  ],
  action: "Upload",
  async send({ name, file }) {
    const body = new FormData();
    if (typeof name === "string") body.set("name", name);
    if (file instanceof File) body.set("file", file);
    const extension = await call<ExtensionAnswer>("POST", "/extensions", { body });
    return { said: `Extension ${nameOf(extension)} is there.`, next: to(["extensions", extension.id]) };
  },
};

/** All extensions. */
export const View = () => (
  <ObjectList<ExtensionAnswer>
    title="Extensions"
    one="extension"
    path="/extensions"
    kind="extension"
    columns={columns}
    keyOf={({ id }) => id}
    textOf={(extension) => `${nameOf(extension)} ${extension.id}`}
    lead="Pools and browsers start with the extensions that they name."
    make={{ permission: "pools:write", word: "Upload an extension", form: upload }}
  />
);
