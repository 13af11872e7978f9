/** The logins of the project: which can be filled, and which need a person. */
import type { ConnectionAnswer } from "../../../vaults/connections/auth-connection.ts";
import type { CredentialAnswer } from "../../../vaults/credentials/credential.ts";
import { makeLogin } from "../parts/login-form.tsx";
import { ObjectList } from "../parts/object-list.tsx";
import { State } from "../parts/state.tsx";
import type { Column } from "../parts/table.tsx";
import { Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { loginName, loginStand } from "../service/login-state.ts";
import { useCredentials } from "../service/use-credentials.ts";

const columnsFor = (credentials: readonly CredentialAnswer[] | undefined): readonly Column<ConnectionAnswer>[] => [
  {
    key: "name",
    title: "Login",
    cell: (login) => (
      <a href={to(["logins", login.id])}>
        <Text of={loginName(login)} />
      </a>
    ),
    sortBy: (login) => loginName(login).toLowerCase(),
  },
  {
    key: "state",
    title: "State",
    cell: (login) => {
      if (!credentials) return <span class="muted">…</span>;
      const { tone, word, why } = loginStand(login, credentials);
      return (
        <>
          <State tone={tone}>{word}</State>
          {why !== "" && <span class="why muted">{why}</span>}
        </>
      );
    },
    sortBy: (login) => loginStand(login, credentials ?? []).word,
  },
  {
    key: "credential",
    title: "Credential",
    cell: ({ credential }) =>
      credential?.name === undefined ? <span class="muted">none</span> : <Text of={credential.name} />,
    sortBy: ({ credential }) => credential?.name ?? "",
    isLow: true,
  },
  {
    key: "made",
    title: "Made",
    cell: (login) => <Time at={login.created_at} />,
    sortBy: (login) => login.created_at,
    isLow: true,
  },
];

/** All logins. */
export const View = () => {
  const { data } = useCredentials();
  return (
    <ObjectList<ConnectionAnswer>
      title="Logins"
      one="login"
      path="/auth/connections"
      kind="auth_connection"
      columns={columnsFor(data)}
      keyOf={({ id }) => id}
      textOf={(login) => `${loginName(login)} ${login.id}`}
      lead="A login says who is logged in at which site, and where the values are. Vaults have logins as their items."
      make={{ permission: "credentials:write", word: "Make a login", form: makeLogin(data ?? []) }}
    />
  );
};
