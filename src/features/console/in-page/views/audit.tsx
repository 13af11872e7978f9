/** Who did what of late: recent audit lines, the latest first, by the filters of the address. */
import { useMemo, useRef, useState } from "preact/hooks";
import type { RecentLine } from "../../../../platform/audit/audit-line.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { type Names, Outcome, SessionLink, What, Where, Who, whyLeftOut } from "../parts/audit-words.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Show } from "../parts/fetched.tsx";
import { Facts } from "../parts/object-page.tsx";
import { Choice, Search, useTyped } from "../parts/search.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { exactTime, Time } from "../parts/time.tsx";
import { query, to } from "../router.ts";
import { readList } from "../service/api.ts";
import { type AuditFilters, type AuditPage, readAuditPage } from "../service/audit.ts";
import type { ApiKey, Project } from "../service/org.ts";
import { useFetched } from "../service/use-fetched.ts";

/** A filter: its name in the address, as the console's own `project` is another one, and in the API. */
const filterNames = { of: "project", key: "key_id", verb: "verb", session: "session", result: "result" } as const;

type FilterName = keyof typeof filterNames;

/** The filters of the address. */
const chosenFilters = (): Record<FilterName, string> => {
  const [of = "", key = "", verb = "", session = "", result = ""] = Object.keys(filterNames).map(
    (name) => query.value.get(name) ?? "",
  );
  return { of, key, verb, session, result };
};

/** The address with these filters and no others. A page of older lines is one step of the history. */
const addressOf = (filters: Partial<Record<FilterName | "before", string>>): string =>
  to(["audit"], Object.fromEntries(Object.entries(filters).filter(([, text]) => text !== "")));

/** Names change seldom. */
const namesEveryMs = 60_000;

const useNames = (path: string, filters: Record<string, string>): Names => {
  const { data = [] } = useFetched(
    `names ${path}`,
    (signal) => readList<Pick<ApiKey & Project, "id" | "name">>(path, filters, signal),
    { everyMs: namesEveryMs },
  );
  return useMemo(() => new Map(data.map(({ id, name }) => [id, name])), [data]);
};

/** What a person can choose from: all that have a name, and what the address asks for. */
const optionsOf = (all: string, names: Names, chosen: string): (readonly [string, string])[] => [
  ["", all],
  ...[...names].map(([id, name]) => [id, plainText(name)] as const),
  ...(chosen !== "" && !names.has(chosen) ? [[chosen, plainText(chosen)] as const] : []),
];

const Filters = ({ keys, projects }: { keys: Names; projects: Names }) => {
  const { of, key } = chosenFilters();
  return (
    <search class="row" aria-label="Filters">
      <Choice label="Project" drops="before" name="of" options={optionsOf("All projects", projects, of)} />
      <Choice label="API key" drops="before" name="key" options={optionsOf("All keys", keys, key)} />
      <Choice
        label="Result"
        drops="before"
        name="result"
        options={[
          ["", "All results"],
          ["done", "Done"],
          ["repeated", "Repeated"],
          ["refused", "Refused"],
          ["failed", "Failed"],
        ]}
      />
      <Search label="Verb, such as deleteVault" drops="before" name="verb" />
      <Search label="Session id" drops="before" name="session" />
    </search>
  );
};

const LineFacts = ({ line, names }: { line: RecentLine; names: LineNames }) => {
  const call = "verb" in line ? line : undefined;
  const { object_id, session, code } = call ?? {};
  return (
    <Facts
      of={{
        When: <time dateTime={line.time}>{exactTime(line.time)}</time>,
        Result: <Outcome line={line} />,
        "Left out": !call && <What line={line} />,
        "Since when": "since" in line && <time dateTime={line.since}>{exactTime(line.since)}</time>,
        "API key": "key_id" in line && <Who line={line} names={names.keys} />,
        "Key id": "key_id" in line && line.key_id !== null && <Text of={line.key_id} mono />,
        Address: call && <Text of={call.address} mono />,
        Project: "project" in line && <Where line={line} names={names.projects} />,
        Object: call && <bdi class="mono wrap">{plainText(call.object)}</bdi>,
        "Object id": object_id !== undefined && <Text of={object_id} mono />,
        Session: session !== undefined && <SessionLink line={line} />,
        "Code of the error": code !== undefined && <Text of={code} mono />,
        "Outcome of the fill": call?.outcome,
        "Request id": call && <bdi class="mono wrap">{plainText(call.request_id)}</bdi>,
        Replica: <Text of={line.replica} mono />,
      }}
    />
  );
};

/** What else there is with something of the line. */
const othersOf = (line: RecentLine): [word: string, filters: Partial<Record<FilterName, string>>][] => {
  const others: [string, FilterName, string | null | undefined][] = [
    ["All of this key", "key", "key_id" in line ? line.key_id : undefined],
    ["All of this project", "of", "project" in line ? line.project : undefined],
    ["All of this verb", "verb", "verb" in line ? line.verb : undefined],
    ["All of this session", "session", "session" in line ? line.session : undefined],
  ];
  return others.flatMap(([word, name, value]) => (value ? [[word, { [name]: value }]] : []));
};

const Detail = ({ line, names, close }: { line: RecentLine; names: LineNames; close: () => void }) => {
  const why = whyLeftOut(line);
  return (
    <Dialog title={"verb" in line ? plainText(line.verb) : "Lines left out"} isWide onClose={close}>
      {why && <p>{why}</p>}
      <LineFacts line={line} names={names} />
      <div class="row end">
        {othersOf(line).map(([word, filters]) => (
          <a key={word} class="button" href={addressOf(filters)} onClick={close}>
            {word}
          </a>
        ))}
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
};

type LineNames = { keys: Names; projects: Names };

/** A line with what tells it from all others on its page. */
type Row = { key: string; line: RecentLine };

/** Callers choose ids of requests, so several lines may have one. */
const rowsOf = (lines: readonly RecentLine[]): Row[] => {
  const seen = new Map<string, number>();
  return lines
    .toReversed()
    .map((line) => {
      const text = JSON.stringify(line);
      const count = seen.get(text) ?? 0;
      seen.set(text, count + 1);
      return { key: `${text} ${count}`, line };
    })
    .toReversed();
};

const columnsOf = ({ keys, projects }: LineNames, open: (line: RecentLine) => void): readonly Column<Row>[] => [
  {
    key: "time",
    title: "When",
    cell: ({ line }) => (
      <button type="button" class="bare link" aria-haspopup="dialog" onClick={() => open(line)}>
        <Time at={line.time} />
      </button>
    ),
  },
  { key: "who", title: "Who", cell: ({ line }) => <Who line={line} names={keys} /> },
  { key: "what", title: "What", cell: ({ line }) => <What line={line} /> },
  { key: "result", title: "Result", cell: ({ line }) => <Outcome line={line} /> },
  {
    key: "object",
    title: "Object",
    cell: ({ line }) => "object" in line && <Text of={line.object} mono />,
    isLow: true,
  },
  { key: "project", title: "Project", cell: ({ line }) => <Where line={line} names={projects} />, isLow: true },
  { key: "session", title: "Session", cell: ({ line }) => <SessionLink line={line} />, isLow: true },
];

/** While the table is scrolled or has the focus, its rows stay: new ones are counted. */
const useHeld = (rows: readonly Row[], isHeld: boolean): { shown: readonly Row[]; added: number } => {
  const held = useRef<readonly Row[] | undefined>(undefined);
  if (!isHeld) held.current = undefined;
  else held.current ??= rows;
  const shown = held.current ?? rows;
  const known = new Set(shown.map(({ key }) => key));
  return { shown, added: rows.filter(({ key }) => !known.has(key)).length };
};

const None = ({ next, isFiltered }: { next: string | undefined; isFiltered: boolean }) => {
  if (next !== undefined) return <p>None of the lines that were looked at matches. There are older ones.</p>;
  if (isFiltered) return <p>No recent line matches. What is older is in the audit stream.</p>;
  return (
    <p>
      <b>Nothing was done of late.</b> Calls that change something, read a code or are refused are here a second later.
    </p>
  );
};

type Shown = { page: AuditPage; names: LineNames; isFiltered: boolean; before: string };

const Lines = ({ page: { lines, next }, names, isFiltered, before }: Shown) => {
  const [open, setOpen] = useState<RecentLine>();
  const [isHeld, setHeld] = useState(false);
  const rows = useMemo(() => rowsOf(lines), [lines]);
  const { shown, added } = useHeld(rows, isHeld || open !== undefined);
  return (
    <>
      <p class="counts" role="status">
        {before === "" ? "The latest first" : "Older lines"}
        {added > 0 && (
          <button type="button" onClick={() => setHeld(false)}>
            Show {added} new
          </button>
        )}
      </p>
      <Table
        label="Audit lines"
        rows={shown}
        columns={columnsOf(names, setOpen)}
        keyOf={({ key }) => key}
        onBusy={setHeld}
        empty={<None next={next} isFiltered={isFiltered} />}
      />
      <div class="row">
        {before !== "" && (
          <a class="button" href={addressOf(chosenFilters())}>
            Latest
          </a>
        )}
        {next !== undefined && (
          <a class="button" href={addressOf({ ...chosenFilters(), before: next })}>
            Older
          </a>
        )}
      </div>
      {open && <Detail line={open} names={names} close={() => setOpen(undefined)} />}
    </>
  );
};

/** The latest lines are read again so often, ms. */
const everyMs = 3000;

/** The lines. */
export const View = () => {
  const { of, key, result } = chosenFilters();
  const [verb, session] = [useTyped("verb").trim(), useTyped("session").trim()];
  const before = query.value.get("before") ?? "";
  const filters: AuditFilters = { project: of, key_id: key, verb, session, result };
  const keys = useNames("/org/api_keys", { status: "all" });
  const projects = useNames("/org/projects", {});
  const isFiltered = Object.values(filters).some((text) => text !== "");
  const fetched = useFetched(
    `audit ${JSON.stringify([filters, before])}`,
    (signal) => readAuditPage({ ...filters, cursor: before }, signal),
    before === "" ? { everyMs } : {},
  );
  const asked = Object.entries(filters).filter(([, text]) => text !== "");
  const sdkQuery = asked.length === 0 ? "" : `, { query: ${JSON.stringify(Object.fromEntries(asked))} }`;
  return (
    <>
      <div class="view-head">
        <h1 tabIndex={-1}>Audit</h1>
        {isFiltered && (
          <a class="button" href={addressOf({})}>
            Clear the filters
          </a>
        )}
        <AsCodeButton
          of={{
            title: "These lines as code",
            curl: { method: "GET", path: `/org/audit${asked.length === 0 ? "" : `?${new URLSearchParams(asked)}`}` },
            sdk: `get("/org/audit"${sdkQuery})`,
          }}
        />
      </div>
      <Filters keys={keys} projects={projects} />
      <Show fetched={fetched}>
        {(page) => <Lines page={page} names={{ keys, projects }} isFiltered={isFiltered} before={before} />}
      </Show>
    </>
  );
};
