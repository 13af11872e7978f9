/**
 * Makes or changes a pool. The fields that people set most have a place of their own; all others are the JSON that the
 * API takes. A change sends only the fields that differ, so what another person changed meanwhile stays.
 */
import { useState } from "preact/hooks";
import { call, inPath } from "../service/api.ts";
import { type Pool, poolName } from "../service/pool-state.ts";
import { Code } from "./as-code.tsx";
import { Dialog } from "./dialog.tsx";
import { Problem, say } from "./notice.tsx";
import { PlainTable } from "./plain-table.tsx";
import { plainText } from "./text.tsx";

type Config = Record<string, unknown>;

/** The fields with a place of their own. */
const ownFields = ["name", "size", "fill_rate_per_minute", "headless", "stealth", "timeout_seconds"] as const;

const configOf = (pool: Pool | undefined): Config =>
  pool ? { ...pool.browser_pool_config } : { size: 2, headless: false, stealth: false };

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The fields of `after` that differ from `before`; one that is left out is cleared as the API clears it. */
const changed = (before: Config, after: Config): Config => {
  const fields = Object.entries(after).filter(([name, value]) => !isSame(value, before[name]));
  return Object.fromEntries(fields);
};

/** What a change does to browsers that run. */
const effectOf = (fields: string[]): string => {
  if (fields.length === 0) return "";
  const settings = fields.filter((field) => !["name", "size", "fill_rate_per_minute", "autoscale"].includes(field));
  const resized = fields.includes("size")
    ? "The pool grows at its fill rate, and shrinks by idle browsers first. "
    : "";
  return settings.length > 0
    ? `${resized}Browsers that run keep their settings; browsers that start from now on have the new ones. “Discard idle browsers” replaces the idle ones at once.`
    : `${resized}Browsers that run are not touched.`;
};

const textOf = (value: unknown): string => (value === undefined ? "not set" : JSON.stringify(value));

const Difference = ({ before, change }: { before: Config; change: Config }) => (
  <PlainTable label="What changes" head={["Field", "Now", "Then"]}>
    {Object.entries(change).map(([name, value]) => (
      <tr key={name}>
        <th scope="row">{name}</th>
        <td class="mono">{plainText(textOf(before[name]))}</td>
        <td class="mono">{plainText(textOf(value))}</td>
      </tr>
    ))}
  </PlainTable>
);

const NumberField = ({
  label,
  hint,
  value,
  onChange,
  min,
}: {
  label: string;
  hint?: string;
  value: unknown;
  onChange: (value: number | undefined) => void;
  min: number;
}) => (
  <label>
    {label}
    <input
      type="number"
      min={min}
      step="any"
      value={typeof value === "number" ? value : ""}
      onInput={({ currentTarget }) => onChange(currentTarget.value === "" ? undefined : Number(currentTarget.value))}
    />
    {hint && <small class="muted">{hint}</small>}
  </label>
);

const Flag = ({ label, value, onChange }: { label: string; value: unknown; onChange: (value: boolean) => void }) => (
  <label class="flag">
    <input type="checkbox" checked={value === true} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
    {label}
  </label>
);

/** The fields without a place of their own, as JSON. */
const othersOf = (config: Config): string => {
  const others = Object.entries(config).filter(([name]) => !ownFields.some((field) => field === name));
  return JSON.stringify(Object.fromEntries(others), null, 2);
};

const parsed = (text: string): Config | string => {
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Config)
      : "must be an object: { … }";
  } catch (error) {
    return `is not JSON: ${error instanceof Error ? error.message : ""}`;
  }
};

/** Fields that somebody else has changed since the form was opened, and this person, too. */
const conflictsOf = (opened: Config, now: Config, change: Config): string[] =>
  Object.keys(change).filter((name) => !isSame(opened[name], now[name]));

type Shown = {
  /** The pool as it is now; undefined: a new one. */
  pool?: Pool;
  onClose: () => void;
  onDone?: (id: string) => void;
};

type Draft = {
  config: Config;
  set: (name: (typeof ownFields)[number]) => (value: unknown) => void;
  others: string;
  setOthers: (text: string) => void;
  /** Why `others` can't be used; undefined when it can. */
  othersProblem: string | undefined;
  /** What is sent: of a new pool all fields, of a change those that differ. */
  change: Config;
  conflicts: string[];
};

/** What the person has typed so far, and what would be sent. */
const useDraft = (pool: Pool | undefined): Draft => {
  const [opened] = useState(() => configOf(pool));
  const [config, setConfig] = useState(opened);
  const [others, setOthers] = useState(() => othersOf(opened));
  const rest = parsed(others);
  const othersProblem = typeof rest === "string" ? rest : undefined;
  const own = Object.fromEntries(
    ownFields.flatMap((name) => (config[name] === undefined ? [] : [[name, config[name]]])),
  );
  const wanted: Config = typeof rest === "string" ? own : { ...own, ...rest };
  const change = pool ? changed(opened, wanted) : wanted;
  return {
    ...{ config, others, setOthers, othersProblem, change },
    set: (name) => (value) => setConfig((before) => ({ ...before, [name]: value })),
    conflicts: pool ? conflictsOf(opened, configOf(pool), change) : [],
  };
};

const Fields = ({ draft: { config, set } }: { draft: Draft }) => (
  <>
    <div class="fields">
      <label>
        Name
        <input
          value={String(config.name ?? "")}
          pattern="[a-zA-Z0-9._\-]{1,255}"
          onInput={({ currentTarget }) => set("name")(currentTarget.value || undefined)}
        />
        <small class="muted">Letters, digits, dot, dash, underscore. Left out: its id.</small>
      </label>
      {config.autoscale === undefined && (
        <NumberField
          label="Size"
          min={1}
          value={config.size}
          onChange={set("size")}
          hint="Browsers: in use, idle and starting together."
        />
      )}
      <NumberField
        label="Fill rate, % a minute"
        min={0}
        value={config.fill_rate_per_minute}
        onChange={set("fill_rate_per_minute")}
        hint="25 when left empty; 0 pauses filling."
      />
      <NumberField
        label="Timeout, s"
        min={10}
        value={config.timeout_seconds}
        onChange={set("timeout_seconds")}
        hint="A session ends after so long without a connection; 600 when left empty."
      />
    </div>
    <div class="row">
      <Flag label="Headless" value={config.headless} onChange={set("headless")} />
      <Flag label="Stealth" value={config.stealth} onChange={set("stealth")} />
    </div>
  </>
);

const Others = ({ draft: { others, setOthers, othersProblem } }: { draft: Draft }) => (
  <details>
    <summary>All other settings, as JSON</summary>
    <label>
      <span class="unseen">All other settings, as JSON</span>
      <textarea
        rows={8}
        spellcheck={false}
        value={others}
        onInput={({ currentTarget }) => setOthers(currentTarget.value)}
      />
    </label>
    {othersProblem !== undefined && <Problem error={new Error(`The JSON ${othersProblem}`)} />}
  </details>
);

const Change = ({ pool, draft: { change, conflicts } }: { pool: Pool; draft: Draft }) => {
  const names = Object.keys(change);
  if (names.length === 0) return null;
  return (
    <>
      <Difference before={configOf(pool)} change={change} />
      <p class="muted">{effectOf(names)}</p>
      {conflicts.length > 0 && (
        <p class="problem" role="alert">
          Somebody else has changed {conflicts.join(", ")} since you began. The table shows how it is now; saving puts
          yours in its place.
        </p>
      )}
    </>
  );
};

/** What a program would send for the same. */
const requestFor = (pool: Pool | undefined, change: Config) =>
  pool
    ? {
        curl: { method: "PATCH", path: `/browser_pools/${inPath(pool.id)}`, body: change } as const,
        sdk: `browserPools.update(${JSON.stringify(pool.id)}, ${JSON.stringify(change)})`,
      }
    : {
        curl: { method: "POST", path: "/browser_pools", body: change } as const,
        sdk: `browserPools.create(${JSON.stringify(change)})`,
      };

/** The form for a new pool, or for a change of one. */
export const PoolForm = ({ pool, onClose, onDone }: Shown) => {
  const draft = useDraft(pool);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const { curl, sdk } = requestFor(pool, draft.change);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const answer = await call<Pool>(curl.method, curl.path, { body: curl.body });
      say(pool ? `Pool ${poolName(answer)} is changed.` : `Pool ${poolName(answer)} is made; its browsers start.`);
      onClose();
      onDone?.(answer.id);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  const isReady = draft.othersProblem === undefined && Object.keys(draft.change).length > 0;
  return (
    <Dialog title={pool ? `Change ${plainText(poolName(pool))}` : "Make a pool"} isWide onClose={onClose}>
      <form class="form" onSubmit={submit}>
        <Fields draft={draft} />
        <Others draft={draft} />
        {pool && <Change pool={pool} draft={draft} />}
        {error !== undefined && <Problem error={error} />}
        <details>
          <summary>As code</summary>
          <Code of={{ title: "", curl, sdk }} />
        </details>
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!isReady || isBusy}>
            {isBusy ? "Saving …" : pool ? "Save the change" : "Make the pool"}
          </button>
        </div>
      </form>
    </Dialog>
  );
};
