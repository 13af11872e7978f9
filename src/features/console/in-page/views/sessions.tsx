/**
 * The sessions of the project. While the table is scrolled or has the focus, new ones wait above it, and ended ones
 * stay where they are: nothing jumps under a person's hand.
 */
import { useMemo, useRef, useState } from "preact/hooks";
import type { Session } from "../../../../core/model/sessions/session-wire.ts";
import { Show } from "../parts/fetched.tsx";
import { Reading } from "../parts/reading.tsx";
import { Choice, Search, useTyped } from "../parts/search.tsx";
import { sessionColumns, sessionName } from "../parts/session-columns.tsx";
import { Table } from "../parts/table.tsx";
import { Wall } from "../parts/wall.tsx";
import { query, setFilter } from "../router.ts";
import { readPage } from "../service/api.ts";
import { ended, link, sessions } from "../service/live.ts";
import { may } from "../service/session.ts";
import { useFetched } from "../service/use-fetched.ts";

const usualColumns = ["name", "state", "pool", "tags", "began", "lasted"];

/** The columns that the address names. */
const chosenColumns = (): string[] => query.value.get("columns")?.split(".").filter(Boolean) ?? usualColumns;

const ColumnChoice = () => {
  const chosen = chosenColumns();
  const toggle = (key: string): void => {
    const next = sessionColumns
      .map((column) => column.key)
      .filter((each) => (each === key ? !chosen.includes(key) : chosen.includes(each)));
    setFilter("columns", next.join(".") === usualColumns.join(".") ? "" : next.join("."));
  };
  return (
    <details class="menu">
      <summary>Columns</summary>
      <fieldset class="menu-inside">
        <legend class="unseen">Columns</legend>
        {sessionColumns.map(({ key, title }) => (
          <label key={key} class="flag">
            <input
              type="checkbox"
              checked={chosen.includes(key)}
              disabled={key === "name"}
              onChange={() => toggle(key)}
            />
            {title}
          </label>
        ))}
      </fieldset>
    </details>
  );
};

/** `team=a` is a tag, anything else a part of a name or an id. */
const matcher = (text: string): ((session: Session) => boolean) => {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return () => true;
  const [, tag, value = ""] = /^([^=]+)=(.*)$/.exec(text.trim()) ?? [];
  if (tag !== undefined) return ({ tags }) => (tags?.[tag] ?? "").startsWith(value) && tags?.[tag] !== undefined;
  return (session) =>
    session.session_id === wanted ||
    sessionName(session).toLowerCase().includes(wanted) ||
    (session.pool?.name ?? "").toLowerCase().includes(wanted);
};

const byBegin = (a: Session, b: Session): number =>
  a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : a.session_id < b.session_id ? -1 : 1;

/** The rows that are shown: all, or while `isHeld` those that were there, each as it is now. */
const useRows = (all: readonly Session[], isHeld: boolean): { rows: readonly Session[]; added: number } => {
  const held = useRef<readonly string[] | undefined>(undefined);
  if (!isHeld) held.current = undefined;
  else held.current ??= all.map(({ session_id }) => session_id);
  const kept = held.current;
  return useMemo(() => {
    if (!kept) return { rows: all, added: 0 };
    const rows = kept.flatMap((id) => sessions.byId.get(id) ?? ended.byId.get(id) ?? []);
    const known = new Set(kept);
    return { rows, added: all.filter(({ session_id }) => !known.has(session_id)).length };
  }, [all, kept]);
};

/** Pictures in a second of each session of the wall, as the address has it. */
const rates = [
  ["1", "One picture a second"],
  ["5", "One in five seconds"],
  ["30", "One in thirty seconds"],
] as const;

const Active = ({ columns, isWall }: { columns: typeof sessionColumns; isWall: boolean }) => {
  const [isHeld, setHeld] = useState(false);
  const version = sessions.version.value;
  const text = query.value.get("query") ?? "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version says that the map has changed
  const all = useMemo(() => [...sessions.byId.values()].filter(matcher(text)).sort(byBegin), [version, text]);
  const { rows, added } = useRows(all, isHeld);
  return (
    <>
      <p class="counts" role="status">
        {text === "" ? `${all.length} active` : `${all.length} of ${sessions.byId.size} active`}
        {added > 0 && (
          <button type="button" onClick={() => setHeld(false)}>
            Show {added} new
          </button>
        )}
      </p>
      {isWall && rows.length > 0 ? (
        <Wall sessions={rows.toReversed()} everyMs={Number(query.value.get("every") ?? rates[0][0]) * 1000} />
      ) : (
        <Table
          label="Sessions"
          rows={rows}
          columns={columns}
          keyOf={({ session_id }) => session_id}
          onBusy={setHeld}
          empty={
            text !== "" ? (
              <p>No active session matches.</p>
            ) : link.value.state === "live" ? (
              <p>
                <b>Nobody holds a browser.</b> Acquire one of a pool, and it is here.
              </p>
            ) : (
              <Reading />
            )
          }
        />
      )}
    </>
  );
};

const Ended = ({ columns }: { columns: typeof sessionColumns }) => {
  const typed = useTyped();
  const fetched = useFetched(
    `ended ${typed}`,
    (signal) => readPage<Session>("/browsers", { status: "deleted", query: typed }, signal),
    { everyMs: 10_000 },
  );
  return (
    <Show fetched={fetched}>
      {({ items, next }) => (
        <>
          <p class="counts">{next === undefined ? `${items.length} ended` : `The ${items.length} that ended last`}</p>
          <Table
            label="Ended sessions"
            rows={items}
            columns={columns}
            keyOf={({ session_id }) => session_id}
            empty={<p>No session has ended within the last day{typed === "" ? "" : " that matches"}.</p>}
          />
        </>
      )}
    </Show>
  );
};

/** The sessions, active or ended. */
export const View = () => {
  const chosen = chosenColumns();
  const columns = sessionColumns.filter(({ key }) => key === "name" || chosen.includes(key));
  const isEnded = query.value.get("status") === "ended";
  const isWall = query.value.get("as") === "wall" && may("browsers:use");
  return (
    <>
      <div class="view-head">
        <h1 tabIndex={-1}>Sessions</h1>
        <Search label="Name, id, pool, or tag=value" />
        <Choice
          label="Which sessions"
          name="status"
          options={[
            ["active", "Active"],
            ["ended", "Ended"],
          ]}
        />
        {!isEnded && may("browsers:use") && (
          <Choice
            label="Table or wall"
            name="as"
            options={[
              ["table", "Table"],
              ["wall", "Wall"],
            ]}
          />
        )}
        {isWall && !isEnded ? <Choice label="How often" name="every" options={rates} /> : <ColumnChoice />}
      </div>
      {isEnded ? <Ended columns={columns} /> : <Active columns={columns} isWall={isWall} />}
    </>
  );
};
