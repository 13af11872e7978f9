/** One vault: its items, and whether each can be filled. */
import type { ConnectionAnswer } from "../../../vaults/connections/auth-connection.ts";
import type { CredentialAnswer } from "../../../vaults/credentials/credential.ts";
import type { ItemAnswer, VaultAnswer } from "../../../vaults/vault.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { Show } from "../parts/fetched.tsx";
import { FormButton } from "../parts/form.tsx";
import { DeleteButton, Facts, ObjectHead, ObjectPage } from "../parts/object-page.tsx";
import { State } from "../parts/state.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call, inPath, readList } from "../service/api.ts";
import { itemStand, loginName, loginStand } from "../service/login-state.ts";
import { manifestOf } from "../service/manifests.ts";
import { may } from "../service/session.ts";
import { useCredentials } from "../service/use-credentials.ts";
import type { Fetched } from "../service/use-fetched.ts";
import { useFresh } from "../service/use-fresh.ts";
import { originsHint } from "../service/words.ts";

const columnsOf = (vault: string): readonly Column<ItemAnswer>[] => [
  {
    key: "key",
    title: "Item",
    cell: ({ key }) => (
      <a href={to(["vaults", vault, "items", key])}>
        <Text of={key} />
      </a>
    ),
    sortBy: ({ key }) => key.toLowerCase(),
  },
  {
    key: "state",
    title: "State",
    cell: (item) => {
      const { tone, word, why } = itemStand(item);
      return (
        <>
          <State tone={tone}>{word}</State>
          {why !== "" && <span class="why muted">{why}</span>}
        </>
      );
    },
    sortBy: (item) => itemStand(item).word,
  },
  {
    key: "description",
    title: "What it is",
    cell: ({ spec }) => spec.description !== undefined && <Text of={spec.description} />,
    isLow: true,
  },
  {
    key: "made",
    title: "Made",
    cell: (item) => <Time at={item.created_at} />,
    sortBy: (item) => item.created_at,
    isLow: true,
  },
];

type PutButton = {
  vault: string;
  logins: readonly ConnectionAnswer[];
  credentials: readonly CredentialAnswer[];
  again: () => void;
};

/** The name of a login, with what speaks against it: only a login that has values can be put in. */
const loginOption = (login: ConnectionAnswer, credentials: readonly CredentialAnswer[]) => {
  const { tone, word } = loginStand(login, credentials);
  const isReady = tone === "good";
  return { value: login.id, text: isReady ? loginName(login) : `${loginName(login)} (${word.toLowerCase()})`, isReady };
};

const PutItemButton = ({ vault, logins, credentials, again }: PutButton) => (
  <FormButton
    word="Put in an item"
    form={{
      title: "Put in an item",
      intro:
        "An item is a login under a key. It keeps what it is made with: to change one, delete it and put it in again.",
      fields: [
        {
          name: "key",
          label: "Key",
          hint: "What a fill calls it by. Letters, digits, dot, dash and underscore.",
          isRequired: true,
        },
        {
          ...{ name: "connection_id", label: "Login", path: "spec.connection_id", isRequired: true },
          kind: "choice",
          options: logins
            .map((login) => loginOption(login, credentials))
            .toSorted((a, b) => Number(b.isReady) - Number(a.isReady)),
          hint:
            logins.length > 0
              ? "One that is ready: its credential has the values."
              : "There is no login yet: make one first.",
        },
        { name: "description", label: "What it is", path: "spec.description", hint: "For people; may stay empty." },
        {
          name: "allowed_origins",
          label: "Only into pages of",
          path: "spec.allowed_origins",
          kind: "lines",
          hint: originsHint,
        },
      ],
      action: "Put it in",
      async send({ key, ...spec }) {
        const path = `/vaults/${inPath(vault)}/items/${inPath(String(key))}`;
        await call("PUT", path, { body: { type: "credential", spec: { provider: "managed_auth", ...spec } } });
        again();
        return { said: `Item ${plainText(String(key))} is in the vault.` };
      },
    }}
  />
);

type ItemsShown = { vault: VaultAnswer; fetched: Fetched<ItemAnswer[]> };

const Items = ({ vault, fetched }: ItemsShown) => (
  <section>
    <h2>Items</h2>
    <Show fetched={fetched}>
      {(items) => (
        <Table
          label="Items of this vault"
          rows={items}
          columns={columnsOf(vault.id)}
          keyOf={({ id }) => id}
          empty={
            <p>
              <b>This vault is empty.</b> Put in the logins that browsers with this vault shall be able to use.
            </p>
          }
        />
      )}
    </Show>
  </section>
);

const VaultView = ({ vault }: { vault: VaultAnswer }) => {
  const path = `/vaults/${inPath(vault.id)}`;
  const name = vault.name ?? vault.id;
  const items = useFresh(
    `items ${vault.id}`,
    (signal) => readList<ItemAnswer>(`${path}/items`, {}, signal),
    "vault_item",
  );
  const logins = useFresh(
    "logins",
    (signal) => readList<ConnectionAnswer>("/auth/connections", {}, signal),
    "auth_connection",
  );
  const { data: credentials = [] } = useCredentials();
  return (
    <>
      <ObjectHead name={name}>
        {may("vaults:write") && (
          <PutItemButton vault={vault.id} logins={logins.data ?? []} credentials={credentials} again={items.again} />
        )}
        <AsCodeButton
          of={{
            title: `${plainText(name)} as code`,
            yaml: manifestOf("Vault", vault, { name: vault.name }),
            curl: { method: "POST", path: "/vaults", body: { name } },
            sdk: `post("/vaults", { body: { name: ${JSON.stringify(name)} } })`,
          }}
        />
        {may("vaults:write") && (
          <DeleteButton
            {...{ name, what: "vault", path, next: to(["vaults"]) }}
            text="Its items go with it. The logins behind them stay, and so does what they store."
          />
        )}
      </ObjectHead>
      <Facts
        of={{
          Id: <span class="mono">{vault.id}</span>,
          Made: <Time at={vault.created_at} />,
        }}
      />
      <Items vault={vault} fetched={items} />
      <p class="muted">
        A browser gets a vault when it starts: <code>POST /browsers</code> with <code>vaults</code>. Browsers of pools
        have none.
      </p>
    </>
  );
};

/** The vault with this id or name. */
export const View = ({ id }: { id: string }) => (
  <ObjectPage<VaultAnswer>
    what="Vault"
    path={`/vaults/${inPath(id)}`}
    kind="vault"
    all={{ title: "All vaults", address: to(["vaults"]) }}
  >
    {(vault) => <VaultView vault={vault} />}
  </ObjectPage>
);
