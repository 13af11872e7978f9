/** Forms in front of the page: what to ask for is data, and what is wrong stands at its field. */
import { useRef, useState } from "preact/hooks";
import { go } from "../router.ts";
import { ApiError } from "../service/api.ts";
import { Dialog } from "./dialog.tsx";
import { type Field, FormField, givenBy, initialOf, type Typed } from "./form-fields.tsx";
import { Problem, say, wordsOf } from "./notice.tsx";
import { plainText } from "./text.tsx";

/** What was typed, by the name of the field. */
export type Given = Readonly<Record<string, unknown>>;

/** `said`: a message; `next`: an address to go to. Without both the form closes silently. */
type Done = { said?: string; next?: string };

/**
 * `fields`: they may follow from what was typed so far. `send`: gets all that was typed, and what of it has changed, in
 * which null stands for a list or text that was emptied. What it throws is shown, and the form stays.
 */
export type Form = {
  title: string;
  intro?: string;
  fields: readonly Field[] | ((typed: Readonly<Record<string, Typed>>) => readonly Field[]);
  action: string;
  send: (given: Given, changed: Given) => Promise<Done>;
};

type Draft = Readonly<Record<string, Typed>>;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const changesIn = (fields: readonly Field[], given: Given, typedFirst: ReadonlyMap<string, Typed>): Given => {
  const none = new FormData();
  const changed = fields.flatMap((field) => {
    const [before, after] = [givenBy(field, typedFirst.get(field.name), none), given[field.name]];
    return isSame(before, after) ? [] : [[field.name, after ?? null] as const];
  });
  return Object.fromEntries(changed);
};

/** What an error says of a field, without the name of the field, and without patterns that only programs read. */
const problemOf = (field: Field, error: unknown): string | undefined => {
  if (!(error instanceof ApiError)) return undefined;
  const path = field.path ?? field.name;
  const found = [...error.parts].find(
    ([part]) => part === path || part.startsWith(`${path}.`) || part.startsWith(`${path}[`),
  );
  if (!found) return undefined;
  const [part, message] = found;
  const text = plainText(message.startsWith(`${part}: `) ? message.slice(part.length + 2) : message);
  return /must match pattern/.test(text) ? "It does not have the form that is needed." : text;
};

/** What no field is about. */
const Rest = ({ error, fields, hasSecrets }: { error: unknown; fields: readonly Field[]; hasSecrets: boolean }) => {
  const isAtField = fields.some((field) => problemOf(field, error) !== undefined);
  const text = isAtField ? "Not done: look at the marked fields." : wordsOf(error);
  return <Problem error={new Error(hasSecrets ? `${text} Type what is secret again: it is kept nowhere.` : text)} />;
};

const forgetSecrets = (form: HTMLFormElement): void => {
  for (const input of form.querySelectorAll<HTMLInputElement>("input[data-secret]")) input.value = "";
};

/** The form, open as long as it is there. */
const FormDialog = ({ form, onClose }: { form: Form; onClose: () => void }) => {
  const element = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState<Draft>({});
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const all = typeof form.fields === "function" ? form.fields(draft) : form.fields;
  const fields = all.filter(({ isLeftOut }) => !isLeftOut);
  // What the form opened with stays what it is compared with, also when the object behind it changes.
  const [typedFirst] = useState(() => new Map<string, Typed>());
  const typedOf = (field: Field): Typed => {
    const first = typedFirst.get(field.name) ?? initialOf(field);
    typedFirst.set(field.name, first);
    return draft[field.name] ?? first;
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!element.current || isBusy) return;
    setBusy(true);
    setError(undefined);
    const inputs = new FormData(element.current);
    const given = Object.fromEntries(fields.map((field) => [field.name, givenBy(field, typedOf(field), inputs)]));
    try {
      const { said, next } = await form.send(given, changesIn(fields, given, typedFirst));
      if (said !== undefined) say(said);
      onClose();
      if (next !== undefined) go(next);
    } catch (failure) {
      forgetSecrets(element.current);
      setError(failure);
      setBusy(false);
      requestAnimationFrame(() => element.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus());
    }
  };
  const hasSecrets = fields.some(({ kind }) => kind === "secret" || kind === "pairs");
  return (
    <Dialog title={form.title} isWide onClose={onClose}>
      <form ref={element} class="form" autocomplete="off" onSubmit={submit}>
        {form.intro !== undefined && <p class="muted">{form.intro}</p>}
        <div class="fields">
          {fields.map((field) => (
            <FormField
              key={field.name}
              field={field}
              typed={typedOf(field)}
              set={(typed) => setDraft((before) => ({ ...before, [field.name]: typed }))}
              problem={problemOf(field, error)}
            />
          ))}
        </div>
        {error !== undefined && <Rest error={error} fields={fields} hasSecrets={hasSecrets} />}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? "Sending …" : form.action}
          </button>
        </div>
      </form>
    </Dialog>
  );
};

/** A button that opens a form. */
export const FormButton = ({ word, form, isPrimary = false }: { word: string; form: Form; isPrimary?: boolean }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={isPrimary ? "primary" : undefined} onClick={() => setOpen(true)}>
        {word}
      </button>
      {isOpen && <FormDialog form={form} onClose={() => setOpen(false)} />}
    </>
  );
};
