/** The vaults of the project. */
import type { VaultAnswer } from "../../../vaults/vault.ts";
import type { Form } from "../parts/form.tsx";
import { ObjectList } from "../parts/object-list.tsx";
import type { Column } from "../parts/table.tsx";
import { Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call } from "../service/api.ts";
import { nameRule } from "../service/words.ts";

const nameOf = ({ name, id }: VaultAnswer): string => name ?? id;

const columns: readonly Column<VaultAnswer>[] = [
  {
    key: "name",
    title: "Vault",
    cell: (vault) => (
      <a href={to(["vaults", vault.id])}>
        <Text of={nameOf(vault)} />
      </a>
    ),
    sortBy: (vault) => nameOf(vault).toLowerCase(),
  },
  { key: "id", title: "Id", cell: ({ id }) => <Text of={id} mono />, isLow: true },
  { key: "made", title: "Made", cell: (vault) => <Time at={vault.created_at} />, sortBy: (vault) => vault.created_at },
];

const make: Form = {
  title: "Make a vault",
  intro: "You give a browser a vault when you start it; then the vault's logins can be filled into its pages.",
  fields: [{ name: "name", label: "Name", hint: nameRule, isRequired: true }],
  action: "Make the vault",
  async send({ name }) {
    const vault = await call<VaultAnswer>("POST", "/vaults", { body: { name } });
    return { said: `Vault ${nameOf(vault)} is there.`, next: to(["vaults", vault.id]) };
  },
};

/** All vaults. */
export const View = () => (
  <ObjectList<VaultAnswer>
    title="Vaults"
    one="vault"
    path="/vaults"
    kind="vault"
    columns={columns}
    keyOf={({ id }) => id}
    textOf={(vault) => `${nameOf(vault)} ${vault.id}`}
    lead="A vault is a set of logins that browsers are given, to be typed into pages without anybody seeing them."
    make={{ permission: "vaults:write", word: "Make a vault", form: make }}
  />
);
