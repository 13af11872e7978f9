/** The credentials of the project: the names of what they store, never a value. */
import type { CredentialAnswer } from "../../../vaults/credentials/credential.ts";
import type { Form } from "../parts/form.tsx";
import { ObjectList } from "../parts/object-list.tsx";
import { State } from "../parts/state.tsx";
import type { Column } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call } from "../service/api.ts";
import { nameRule, originsHint } from "../service/words.ts";

const Stored = ({
  credential: { has_values, has_totp_secret, totp_secret_problem },
}: {
  credential: CredentialAnswer;
}) => {
  if (totp_secret_problem) return <State tone="bad">Authenticator can't be used</State>;
  const stored = [has_values && "values", has_totp_secret && "an authenticator"].filter(Boolean).join(" and ");
  return stored === "" ? <State tone="warn">Empty</State> : <State tone="good">{`Has ${stored}`}</State>;
};

const columns: readonly Column<CredentialAnswer>[] = [
  {
    key: "name",
    title: "Credential",
    cell: ({ name }) => (
      <a href={to(["credentials", name])}>
        <Text of={name} />
      </a>
    ),
    sortBy: ({ name }) => name.toLowerCase(),
  },
  { key: "domain", title: "Domain", cell: ({ domain }) => <Text of={domain} />, sortBy: ({ domain }) => domain },
  { key: "stored", title: "What it has", cell: (credential) => <Stored credential={credential} /> },
  {
    key: "origins",
    title: "Only into pages of",
    cell: ({ allowed_origins }) =>
      allowed_origins ? <Text of={allowed_origins.join(", ")} /> : <span class="muted">any page</span>,
    isLow: true,
  },
  {
    key: "changed",
    title: "Changed",
    cell: ({ updated_at }) => <Time at={updated_at} />,
    sortBy: ({ updated_at }) => updated_at,
    isLow: true,
  },
];

const make: Form = {
  title: "Make a credential",
  intro: "What you type here is stored, and shown to nobody again: not to you either.",
  fields: [
    { name: "name", label: "Name", hint: nameRule, isRequired: true },
    { name: "domain", label: "Domain", hint: "Of the site, such as shop.example.", isRequired: true },
    {
      ...{ name: "values", label: "Values", kind: "pairs", nameOfOne: "value", initial: ["username", "password"] },
      hint: "What a fill types, by name. One that is left empty is not stored.",
    },
    {
      ...{ name: "totp_secret", label: "Secret of the authenticator", kind: "secret" },
      hint: "In base32, as sites show it; may stay empty. Codes are computed from it.",
    },
    { name: "allowed_origins", label: "Only into pages of", kind: "lines", hint: originsHint },
  ],
  action: "Store the credential",
  async send({ values = {}, ...rest }) {
    const { name } = await call<CredentialAnswer>("POST", "/credentials", { body: { values, ...rest } });
    return { said: `Credential ${plainText(name)} is stored.`, next: to(["credentials", name]) };
  },
};

/** All credentials. */
export const View = () => (
  <ObjectList<CredentialAnswer>
    title="Credentials"
    one="credential"
    path="/credentials"
    kind="credential"
    columns={columns}
    keyOf={({ id }) => id}
    textOf={({ name, domain, id }) => `${name} ${domain} ${id}`}
    lead="A credential stores what a login needs: a username, a password, an authenticator. No answer has its values."
    make={{ permission: "credentials:write", word: "Make a credential", form: make }}
  />
);
