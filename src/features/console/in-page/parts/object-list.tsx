/** A list of objects of one kind, with a field to find some of them and a button to make one. */
import type { ComponentChildren } from "preact";
import { query } from "../router.ts";
import { readList } from "../service/api.ts";
import type { Kind } from "../service/live.ts";
import { may } from "../service/session.ts";
import { useFresh } from "../service/use-fresh.ts";
import { Show } from "./fetched.tsx";
import { type Form, FormButton } from "./form.tsx";
import { Search } from "./search.tsx";
import { type Column, Table } from "./table.tsx";

/** A list is read up to this length. */
const mostRead = 1000;

/** `lead`: a sentence on what the objects are for. */
type Shown<T> = {
  title: string;
  /** One of them, in the middle of a sentence. */
  one: string;
  path: string;
  kind?: Kind;
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  /** What the search looks in. */
  textOf: (row: T) => string;
  lead: string;
  make?: { permission: string; word: string; form: Form } | undefined;
  children?: ComponentChildren;
};

/** The list with its heading. */
export const ObjectList = <T,>(shown: Shown<T>) => {
  const { title, one, path, kind, columns, keyOf, textOf, lead, make, children } = shown;
  const fetched = useFresh(`list ${path}`, (signal) => readList<T>(path, {}, signal), kind);
  const wanted = (query.value.get("query") ?? "").trim().toLowerCase();
  const makeButton = make && may(make.permission) && <FormButton word={make.word} form={make.form} isPrimary />;
  return (
    <>
      <div class="view-head">
        <h1 tabIndex={-1}>{title}</h1>
        <Search label={`Find ${/^[aeiou]/.test(one) ? "an" : "a"} ${one}`} />
        {makeButton}
      </div>
      {children}
      <Show fetched={fetched}>
        {(all) => {
          const rows = wanted === "" ? all : all.filter((row) => textOf(row).toLowerCase().includes(wanted));
          return (
            <>
              {all.length >= mostRead && (
                <p class="counts">These are the first {mostRead.toLocaleString("en")}; there may be more.</p>
              )}
              <Table
                label={title}
                rows={rows}
                columns={columns}
                keyOf={keyOf}
                empty={
                  all.length > 0 ? (
                    <p>Nothing here has this in its name.</p>
                  ) : (
                    <p>
                      <b>There is no {one} yet.</b> {lead}
                    </p>
                  )
                }
              />
            </>
          );
        }}
      </Show>
    </>
  );
};
