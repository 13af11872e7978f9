/** One item of a vault: whether it can be filled, a fill, and what was done with it. */
import { useState } from "preact/hooks";
import type { z } from "zod";
import type { FillAnswer } from "../../../vaults/fill/fill-wire.ts";
import type { ItemAnswer, ItemEventAnswer } from "../../../vaults/vault.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { Show } from "../parts/fetched.tsx";
import { FormButton } from "../parts/form.tsx";
import { DeleteButton, Facts, ObjectHead, ObjectPage, TextList } from "../parts/object-page.tsx";
import { PlaceLink } from "../parts/place-link.tsx";
import { sessionName } from "../parts/session-columns.tsx";
import { Stand } from "../parts/stand.tsx";
import { State, type Tone } from "../parts/state.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import { sessions } from "../service/live.ts";
import { itemStand } from "../service/login-state.ts";
import { manifestOf } from "../service/manifests.ts";
import { may } from "../service/session.ts";
import { useFetched } from "../service/use-fetched.ts";

type ItemEvent = z.infer<typeof ItemEventAnswer>;

/** A fill that was done from this page: its answer, with the names of the fields. */
type Filled = { answer: FillAnswer; names: readonly string[] };

const outcomes: Record<FillAnswer["status"], [tone: Tone, text: string]> = {
  completed: ["good", "Every field has its value. Whether the login succeeds is the site's to say."],
  failed: ["bad", "It stopped at the first field that could not be filled. Nothing is taken back."],
  unknown: ["warn", "The answer to a write got lost: look at the page."],
};

const fieldProblems: Record<string, string> = {
  target_changed: "the page changed or made the field anew meanwhile",
  element_not_found: "the page has nothing that this selector means",
  ambiguous_selector: "the selector means several fields",
  element_not_editable: "the field takes no text",
  option_not_found: "the choice has no such option",
  timeout: "the time was over",
  execution_failed: "the page emptied or changed the field",
};

const Outcome = ({ filled: { answer, names } }: { filled: Filled }) => {
  const [tone, text] = outcomes[answer.status];
  return (
    <div class="notice" role="status">
      <p>
        <State tone={tone}>{answer.status}</State> {text}
      </p>
      <ul>
        {answer.fields.map(({ index, status, error_code }) => (
          <li key={index}>
            <Text of={names[index] ?? ""} />: {status.replace("_", " ")}
            {error_code && `, ${fieldProblems[error_code] ?? error_code}`}
          </li>
        ))}
      </ul>
    </div>
  );
};

const FillButton = ({
  item,
  path,
  onFilled,
}: {
  item: ItemAnswer;
  path: string;
  onFilled: (filled: Filled) => void;
}) => {
  sessions.version.value;
  const known = Object.entries(item.state.fields ?? {});
  // As a person would go through a form: what says who comes before what proves it.
  const fields = known
    .toSorted(([, a], [, b]) => Number(a.type === "password") - Number(b.type === "password"))
    .map(([name]) => name);
  const ids = [...sessions.byId.values()].map(({ session_id }) => session_id).slice(0, 100);
  return (
    <FormButton
      word="Fill into a session"
      form={{
        title: `Fill ${plainText(item.key)}`,
        intro: "Types the values into one open page of a session that was started with this vault. It submits nothing.",
        fields: [
          {
            ...{ name: "browser_id", label: "Session id", isRequired: true, suggestions: ids },
            hint: "Of an on-demand browser that has this vault.",
          },
          { name: "page_url", label: "Address of the page", hint: "Exactly. Left empty: its only open page." },
          { name: "timeout_ms", label: "Time, ms", kind: "number", min: 1, max: 30_000, initial: 10_000 },
          {
            ...{ name: "fields", label: "Which field goes where", kind: "rows", nameOfOne: "field" },
            options: fields.map((value) => ({ value })),
            initial: fields.filter((field) => field !== "totp"),
            hint: "They are written in this order. A selector means one field, such as input[type=password].",
          },
        ],
        action: "Fill",
        async send({ fields: rows, ...rest }) {
          const bindings = (rows as (readonly [string, string])[]).map(([field, selector]) => ({ field, selector }));
          const body = { type: "fill", ...rest, fields: bindings };
          const answer = await call<FillAnswer>("POST", `${path}/operations`, { body });
          onFilled({ answer, names: bindings.map(({ field }) => field) });
          return {};
        },
      }}
    />
  );
};

/** Most events that the service keeps of an item is a little above a thousand; a page has a hundred. */
const mostPages = 15;

const readEvents = async (path: string, signal: AbortSignal): Promise<ItemEvent[]> => {
  const all: ItemEvent[] = [];
  for (let page = 0; page < mostPages; page++) {
    const query = { wait: 0, limit: 100, after: all.at(-1)?.id };
    const found = await call<ItemEvent[]>("GET", `${path}/events`, { query, signal });
    all.push(...found);
    if (found.length < 100) break;
  }
  return all.reverse();
};

const words: Record<ItemEvent["type"], string> = { created: "Put in", deleted: "Deleted", fill: "Filled" };

const eventColumns: readonly Column<ItemEvent>[] = [
  { key: "time", title: "When", cell: ({ time }) => <Time at={time} />, sortBy: ({ time }) => time },
  {
    key: "type",
    title: "What",
    cell: ({ type, outcome }) => (
      <>
        {type === "fill" && outcome !== "completed" ? "Fill" : words[type]}
        {outcome !== undefined && outcome !== "completed" && (
          <span class="why">
            <State tone="warn">{outcome.replaceAll("_", " ")}</State>
          </span>
        )}
      </>
    ),
    sortBy: ({ type, outcome = "" }) => `${type} ${outcome}`,
  },
  { key: "actor", title: "By key", cell: ({ actor }) => <Text of={actor.name ?? actor.id} />, isLow: true },
  { key: "origin", title: "Page of", cell: ({ origin }) => origin && <Text of={origin} />, isLow: true },
  {
    key: "session",
    title: "Session",
    cell: ({ browser_id }) => {
      if (browser_id === undefined) return null;
      const session = sessions.byId.get(browser_id);
      return (
        <PlaceLink needs="pools:read" at={["sessions", browser_id]}>
          <Text of={session ? sessionName(session) : browser_id} />
        </PlaceLink>
      );
    },
  },
];

const Events = ({ path }: { path: string }) => {
  const fetched = useFetched(`events ${path}`, (signal) => readEvents(path, signal), { everyMs: 10_000 });
  return (
    <section>
      <h2>Events</h2>
      <Show fetched={fetched}>
        {(events) => (
          <Table
            label="Events of this item"
            rows={events}
            columns={eventColumns}
            keyOf={({ id }) => id}
            empty={<p>Nothing was done with it in the last month.</p>}
          />
        )}
      </Show>
    </section>
  );
};

const Fields = ({ fields }: { fields: NonNullable<ItemAnswer["state"]["fields"]> }) => (
  <span class="tags">
    {Object.entries(fields).map(([name, { type }]) => (
      <span key={name} class="tag" title={type}>
        <Text of={name} />
      </span>
    ))}
  </span>
);

const ItemStand = ({ item }: { item: ItemAnswer }) => {
  const { tone, word, why, todo } = itemStand(item);
  return (
    <Stand state={<State tone={tone}>{word}</State>}>
      {why} {todo}
    </Stand>
  );
};

const ItemView = ({ vault, item }: { vault: string; item: ItemAnswer }) => {
  const [filled, setFilled] = useState<Filled>();
  const path = `/vaults/${inPath(vault)}/items/${inPath(item.key)}`;
  const body = { type: "credential", spec: item.spec };
  const { connection_id, description, allowed_origins } = item.spec;
  return (
    <>
      <ObjectHead name={item.key}>
        {item.available_operations.length > 0 && may("vaults:fill") && (
          <FillButton item={item} path={path} onFilled={setFilled} />
        )}
        <AsCodeButton
          of={{
            title: `${plainText(item.key)} as code`,
            yaml: manifestOf(
              "VaultItem",
              { name: `${vault}-${item.key}`, id: item.id },
              { vault, key: item.key, ...item.spec },
            ),
            curl: { method: "PUT", path, body },
            sdk: `put(${JSON.stringify(path)}, { body: ${JSON.stringify(body, null, 2)} })`,
          }}
        />
        {may("vaults:write") && (
          <DeleteButton
            {...{ name: item.key, what: "item", path, next: to(["vaults", vault]) }}
            text="Browsers with this vault can't fill it any more. The login behind it stays."
          />
        )}
      </ObjectHead>
      <ItemStand item={item} />
      {filled && <Outcome filled={filled} />}
      <Facts
        of={{
          Vault: <a href={to(["vaults", vault])}>{plainText(vault)}</a>,
          Login: <a href={to(["logins", connection_id])}>{plainText(connection_id)}</a>,
          "Fields that can be filled": item.state.fields && <Fields fields={item.state.fields} />,
          "What it is": description !== undefined && <bdi>{plainText(description)}</bdi>,
          "Only into pages of": allowed_origins ? <TextList of={allowed_origins} /> : "what its login allows",
          Made: <Time at={item.created_at} />,
        }}
      />
      <Events path={path} />
    </>
  );
};

/** The item of this vault with this key. */
export const View = ({ id, more }: { id: string; more: string }) => (
  <ObjectPage<ItemAnswer>
    what="Item"
    path={`/vaults/${inPath(id)}/items/${inPath(more)}`}
    kind="vault_item"
    all={{ title: "The vault", address: to(["vaults", id]) }}
  >
    {(item) => <ItemView vault={id} item={item} />}
  </ObjectPage>
);
