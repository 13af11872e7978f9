/** The fields of forms, as data, and how each is drawn. What is secret stays in its input and nowhere else. */
import { useId, useRef } from "preact/hooks";
import { plainText } from "./text.tsx";

/** `text`: what people see of it; left out, the value. */
type Options = readonly { value: string; text?: string }[];

/**
 * `path`: what errors of the API call it, if not `name`. `isLeftOut`: whether it is not asked for now. Kinds:
 *
 * - `text`, `number`, `flag`, `choice`; `long` and `lines`: several lines, as one text and as a list
 * - `flags`: any of some words
 * - `secret`: a text that is sent once
 * - `pairs`: names with a secret value each
 * - `rows`: one of some words with a text each, in an order
 * - `file`
 */
export type Field = {
  name: string;
  label: string;
  hint?: string;
  isRequired?: boolean;
  isLeftOut?: boolean;
  path?: string;
} & (
  | { kind?: "text" | "long"; initial?: string | undefined; suggestions?: readonly string[] }
  | { kind: "number"; initial?: number | undefined; min?: number; max?: number }
  | { kind: "flag"; initial?: boolean }
  | { kind: "choice"; options: Options; initial?: string | undefined }
  | { kind: "lines"; initial?: readonly string[] | undefined }
  | { kind: "flags"; options: Options; initial?: readonly string[] }
  | { kind: "secret" }
  | { kind: "pairs"; initial?: readonly string[]; nameOfOne: string }
  | { kind: "rows"; options: Options; initial?: readonly string[]; nameOfOne: string }
  | { kind: "file"; accept: string }
);

/** A line of `pairs` and `rows`; `id` stays its own when others go. */
type Row = { id: number; name: string };

/** What was typed into a field that is no secret. */
export type Typed = string | boolean | readonly string[] | readonly Row[];

let lastRow = 0;

const newRow = (name: string): Row => ({ id: ++lastRow, name });

/** What a field has when the form opens. */
export const initialOf = (field: Field): Typed => {
  switch (field.kind) {
    case "number":
      return field.initial === undefined ? "" : String(field.initial);
    case "flag":
      return field.initial ?? false;
    case "choice":
      return field.initial ?? field.options[0]?.value ?? "";
    case "lines":
      return (field.initial ?? []).join("\n");
    case "flags":
      return field.initial ?? [];
    case "pairs":
    case "rows":
      return (field.initial ?? []).map(newRow);
    case "secret":
    case "file":
      return "";
    default:
      return field.initial ?? "";
  }
};

const rowsOf = (typed: Typed | undefined): readonly Row[] => (Array.isArray(typed) ? (typed as readonly Row[]) : []);

/** The name of the input beside a row. */
const besideRow = (field: Field, row: Row): string => `${field.name}.${row.id}`;

/** What a field gives to a request; undefined: nothing. `form` has what is secret. */
export const givenBy = (field: Field, typed: Typed | undefined, form: FormData): unknown => {
  const text = typeof typed === "string" ? typed : "";
  const inForm = (name: string): string => String(form.get(name) ?? "");
  switch (field.kind) {
    case "number":
      return text === "" ? undefined : Number(text);
    case "lines": {
      const lines = text.split("\n").map((line) => line.trim());
      return lines.some(Boolean) ? lines.filter(Boolean) : undefined;
    }
    case "flag":
    case "flags":
      return typed;
    case "secret":
      return inForm(field.name) || undefined;
    case "pairs": {
      const pairs = rowsOf(typed).map((row) => [row.name, inForm(besideRow(field, row))] as const);
      const named = pairs.filter(([name, value]) => name !== "" && value !== "");
      return named.length > 0 ? Object.fromEntries(named) : undefined;
    }
    case "rows":
      return rowsOf(typed).map((row) => [row.name, inForm(besideRow(field, row))] as const);
    case "file":
      return form.get(field.name) ?? undefined;
    default:
      return text === "" ? undefined : text;
  }
};

type Shown<Kind extends Field = Field> = {
  field: Kind;
  typed: Typed;
  set: (typed: Typed) => void;
  /** What the API says of it; undefined when it says nothing. */
  problem: string | undefined;
};

type OfKind<Kind> = Extract<Field, { kind: Kind }>;

const Rows = ({ field, typed, set }: Shown<OfKind<"pairs"> | OfKind<"rows">>) => {
  const rows = rowsOf(typed);
  const place = useRef<HTMLFieldSetElement>(null);
  const change = (id: number, name: string): void => set(rows.map((row) => (row.id === id ? { id, name } : row)));
  const add = (): void => {
    set([...rows, newRow(field.kind === "rows" ? (field.options[0]?.value ?? "") : "")]);
    requestAnimationFrame(() =>
      place.current?.querySelector<HTMLElement>(".pair:last-of-type :is(input, select)")?.focus(),
    );
  };
  return (
    <fieldset class="group" ref={place}>
      <legend>{field.label}</legend>
      {rows.map((row, index) => {
        const at = `${field.nameOfOne} ${index + 1}`;
        return (
          <div key={row.id} class="pair">
            {field.kind === "rows" ? (
              <select
                aria-label={at}
                value={row.name}
                onChange={({ currentTarget }) => change(row.id, currentTarget.value)}
              >
                {field.options.map(({ value, text = value }) => (
                  <option key={value} value={value}>
                    {plainText(text)}
                  </option>
                ))}
              </select>
            ) : (
              <input
                aria-label={`Name of ${at}`}
                placeholder="Name"
                autocomplete="off"
                spellcheck={false}
                value={row.name}
                onInput={({ currentTarget }) => change(row.id, currentTarget.value)}
              />
            )}
            {field.kind === "rows" ? (
              <input
                name={besideRow(field, row)}
                aria-label={`Selector of ${at}`}
                placeholder="CSS selector"
                autocomplete="off"
                spellcheck={false}
              />
            ) : (
              <input
                type="password"
                name={besideRow(field, row)}
                data-secret=""
                aria-label={`Value of ${at}`}
                placeholder="Value"
                autocomplete="new-password"
                spellcheck={false}
              />
            )}
            <button
              type="button"
              aria-label={`Leave out ${at}`}
              onClick={() => set(rows.filter(({ id }) => id !== row.id))}
            >
              ✕
            </button>
          </div>
        );
      })}
      <button type="button" onClick={add}>
        Add a {field.nameOfOne}
      </button>
    </fieldset>
  );
};

const Flags = ({ field, typed, set }: Shown<OfKind<"flags">>) => {
  const chosen = Array.isArray(typed) ? (typed as readonly string[]) : [];
  return (
    <fieldset class="group">
      <legend>{field.label}</legend>
      {field.options.map(({ value, text = "" }) => (
        <label key={value} class="flag">
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={({ currentTarget }) =>
              set(currentTarget.checked ? [...chosen, value] : chosen.filter((each) => each !== value))
            }
          />
          <span>
            <bdi class="mono">{plainText(value)}</bdi>
            <small class="muted"> {text}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
};

type Described = { id: string; "aria-describedby": string | undefined; "aria-invalid": "true" | undefined };

type AtInput = Omit<Shown, "problem"> & { described: Described };

const Input = ({ field, typed, set, described }: AtInput) => {
  const text = typeof typed === "string" ? typed : "";
  const common = { ...described, name: field.name, required: field.isRequired };
  switch (field.kind) {
    case "choice":
      return (
        <select {...common} value={text} onChange={({ currentTarget }) => set(currentTarget.value)}>
          {field.options.map(({ value, text: word = value }) => (
            <option key={value} value={value}>
              {plainText(word)}
            </option>
          ))}
        </select>
      );
    case "long":
    case "lines":
      return (
        <textarea
          {...common}
          rows={field.kind === "long" ? 5 : 3}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      );
    case "secret":
      return <input {...common} type="password" data-secret="" autocomplete="new-password" spellcheck={false} />;
    case "file":
      return <input {...common} type="file" accept={field.accept} />;
    case "number":
      return (
        <input
          {...common}
          type="number"
          min={field.min}
          max={field.max}
          value={text}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      );
    default:
      return <TextInput {...{ field, typed, set, described }} />;
  }
};

const TextInput = ({ field, typed, set, described }: AtInput) => {
  const listId = useId();
  const suggestions = "suggestions" in field ? field.suggestions : undefined;
  return (
    <>
      <input
        {...described}
        name={field.name}
        required={field.isRequired}
        autocomplete="off"
        spellcheck={false}
        list={suggestions ? listId : undefined}
        value={typeof typed === "string" ? typed : ""}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      {suggestions && (
        <datalist id={listId}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
};

/** A field with its label, its hint, and what is wrong with it. */
export const FormField = ({ field, typed, set, problem }: Shown) => {
  const id = useId();
  const notes = (
    <>
      {field.hint !== undefined && (
        <small id={`${id}-hint`} class="muted">
          {field.hint}
        </small>
      )}
      {problem !== undefined && (
        <small id={`${id}-problem`} class="field-problem">
          {problem}
        </small>
      )}
    </>
  );
  const ids = [field.hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`].filter(Boolean);
  const described: Described = {
    id,
    "aria-describedby": ids.length > 0 ? ids.join(" ") : undefined,
    "aria-invalid": problem === undefined ? undefined : "true",
  };
  if (field.kind === "pairs" || field.kind === "rows" || field.kind === "flags")
    return (
      <div class="whole">
        {field.kind === "flags" ? (
          <Flags {...{ field, typed, set, problem }} />
        ) : (
          <Rows {...{ field, typed, set, problem }} />
        )}
        {notes}
      </div>
    );
  if (field.kind === "flag")
    return (
      <div class="whole">
        <label class="flag">
          <input
            {...described}
            type="checkbox"
            checked={typed === true}
            onChange={({ currentTarget }) => set(currentTarget.checked)}
          />
          {field.label}
        </label>
        {notes}
      </div>
    );
  return (
    <div class={field.kind === "long" || field.kind === "lines" ? "whole" : undefined}>
      <label for={id}>{field.label}</label>
      <Input {...{ field, typed, set, described }} />
      {notes}
    </div>
  );
};
