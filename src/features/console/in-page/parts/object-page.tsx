/** The page of one object: what it is called, what can be done with it, and what is known of it. */
import type { ComponentChildren } from "preact";
import { go } from "../router.ts";
import { ApiError, call } from "../service/api.ts";
import type { Kind } from "../service/live.ts";
import { useFresh } from "../service/use-fresh.ts";
import { ask } from "./dialog.tsx";
import { Show } from "./fetched.tsx";
import { attempt } from "./notice.tsx";
import { plainText, Text } from "./text.tsx";

type Shown<T> = {
  /** What it is, with a capital letter. */
  what: string;
  path: string;
  /** Reads it; left out, the JSON of the path. */
  load?: (signal: AbortSignal) => Promise<T>;
  kind?: Kind;
  /** Where all of them are. */
  all: { title: string; address: string };
  /** `again` reads the object anew. */
  children: (object: T, again: () => void) => ComponentChildren;
};

/** Reads the object and shows it, or says that there is none. */
export const ObjectPage = <T,>({ what, path, load, kind, all, children }: Shown<T>) => {
  const usual = (signal: AbortSignal): Promise<T> => call<T>("GET", path, { signal });
  const fetched = useFresh(`object ${path}`, load ?? usual, kind);
  const { data, error, again } = fetched;
  const isGone = error instanceof ApiError && error.status === 404;
  if (data !== undefined && !isGone) return <Show fetched={fetched}>{(object) => children(object, again)}</Show>;
  return (
    <>
      <h1 tabIndex={-1}>{what}</h1>
      {isGone ? (
        <p>There is nothing of this name or id. It may have been deleted.</p>
      ) : (
        <Show fetched={fetched}>{() => null}</Show>
      )}
      <p>
        <a href={all.address}>{all.title}</a>
      </p>
    </>
  );
};

/** The heading of an object's page, with its buttons. */
export const ObjectHead = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div class="view-head">
    <h1 tabIndex={-1}>
      <Text of={name} />
    </h1>
    <div class="row">{children}</div>
  </div>
);

/** What is known of an object, by its title; what is false or undefined is left out. */
export const Facts = ({ of }: { of: Readonly<Record<string, ComponentChildren>> }) => (
  <dl class="facts">
    {Object.entries(of).map(
      ([title, value]) =>
        value !== undefined &&
        value !== false && (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);

/** Texts that somebody else chose, one below the other. */
export const TextList = ({ of }: { of: readonly string[] }) => (
  <ul class="texts">
    {of.map((text) => (
      <li key={text}>
        <bdi>{plainText(text)}</bdi>
      </li>
    ))}
  </ul>
);

type Asked = { name: string; what: string; path: string; text: string; next: string; word?: string };

/** A button that deletes an object after a question. `text`: what goes with it. `next`: where to go then. */
export const DeleteButton = ({ name, what, path, text, next, word = "Delete" }: Asked) => {
  const shown = plainText(name);
  const remove = async (): Promise<void> => {
    if (!(await ask({ title: `Delete ${shown}?`, text, action: `Delete the ${what}` }))) return;
    if (await attempt(() => call("DELETE", path), `${shown} is deleted.`)) go(next);
  };
  return (
    <button type="button" class="danger" onClick={() => void remove()}>
      {word}
    </button>
  );
};
