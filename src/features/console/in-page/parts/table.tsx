/**
 * A table of any length: only the rows in sight are drawn. Arrow keys, Home and End go from row to row; the first cell
 * of a row is a link to its object, or a button that shows it. The row that has the focus stays drawn wherever the table
 * is scrolled to.
 */
import { Component, type ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { query, setFilter } from "../router.ts";
import { useVirtualRows } from "./use-virtual-rows.ts";

/**
 * `cell`: of the row alone, for it is drawn again with another row only; what changes by itself is a component in it.
 * `sortBy`: what rows are sorted by; a column without it is not sorted. `isLow`: left out where there is no room.
 */
export type Column<T> = {
  key: string;
  title: string;
  cell: (row: T) => ComponentChildren;
  sortBy?: (row: T) => string | number;
  isNumber?: boolean;
  isLow?: boolean;
};

/** The column that the address names to sort by, and whether downwards. */
const sorting = (): { key: string; isDown: boolean } => {
  const text = query.value.get("sort") ?? "";
  return { key: text.replace(/^-/, ""), isDown: text.startsWith("-") };
};

const compare = (a: string | number, b: string | number): number => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
};

/** The rows in the order that the address asks for; as they come when it asks for none. */
const sorted = <T,>(rows: readonly T[], columns: readonly Column<T>[]): readonly T[] => {
  const { key, isDown } = sorting();
  const sortBy = columns.find((column) => column.key === key)?.sortBy;
  if (!sortBy) return rows;
  const sign = isDown ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(sortBy(a), sortBy(b)));
};

const classOf = ({ isNumber, isLow }: Pick<Column<never>, "isNumber" | "isLow">): string =>
  [isNumber && "number", isLow && "low"].filter(Boolean).join(" ");

const Head = <T,>({ column }: { column: Column<T> }) => {
  const { key, isDown } = sorting();
  if (!column.sortBy)
    return (
      <th scope="col" class={classOf(column)}>
        {column.title}
      </th>
    );
  const isSorted = key === column.key;
  const next = !isSorted ? column.key : isDown ? "" : `-${column.key}`;
  return (
    <th scope="col" class={classOf(column)} aria-sort={isSorted ? (isDown ? "descending" : "ascending") : "none"}>
      <button type="button" class="bare sort" onClick={() => setFilter("sort", next)}>
        {column.title}
        <span aria-hidden="true">{isSorted ? (isDown ? " ↓" : " ↑") : ""}</span>
      </button>
    </th>
  );
};

/** The height of a row, rem; console.css has the same. */
const rowRem = 2.5;

/** Rows that are in sight at least, where a view has little room. */
const leastRows = 5;

const stepOf: Record<string, (index: number, count: number) => number> = {
  ArrowDown: (index, count) => Math.min(count - 1, index + 1),
  ArrowUp: (index) => Math.max(0, index - 1),
  PageDown: (index, count) => Math.min(count - 1, index + 10),
  PageUp: (index) => Math.max(0, index - 10),
  Home: () => 0,
  End: (_index, count) => count - 1,
};

const indexAt = (element: EventTarget | null): number | undefined => {
  const row = element instanceof Element ? element.closest<HTMLElement>("tr[data-index]") : null;
  return row ? Number(row.dataset.index) : undefined;
};

/** A click beside the link or button of a row opens it, too, unless it selects text. */
const openRow = ({ target }: MouseEvent): void => {
  if (!(target instanceof Element) || target.closest("a, button") || getSelection()?.type === "Range") return;
  target.closest("tr")?.querySelector<HTMLElement>("a, button")?.click();
};

const Spacer = ({ px, columns }: { px: number; columns: number }) =>
  px > 0 ? (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without anything in it takes no focus
    <tr aria-hidden="true" class="spacer">
      <td colSpan={columns} style={{ height: `${px}px` }} />
    </tr>
  ) : null;

type RowOf<T> = { row: T; index: number; columns: readonly Column<T>[] };

/** A row is drawn again when its object is another one, not whenever the table is scrolled. */
class Row<T> extends Component<RowOf<T>> {
  override shouldComponentUpdate({ row, index, columns }: RowOf<T>): boolean {
    return row !== this.props.row || index !== this.props.index || columns !== this.props.columns;
  }

  override render({ row, index, columns }: RowOf<T>) {
    return (
      <tr data-index={index} aria-rowindex={index + 2}>
        {columns.map((column) => (
          <td key={column.key} class={classOf(column)}>
            {column.cell(row)}
          </td>
        ))}
      </tr>
    );
  }
}

type Shown<T> = {
  /** What the rows are, for readers of screens. */
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  /** What stands in the place of no rows. */
  empty: ComponentChildren;
  /** Called when the table is scrolled away from its begin or has the focus, and when it is back. */
  onBusy?: (isBusy: boolean) => void;
};

/** The table of these rows. */
export const Table = <T,>({ label, rows, columns, keyOf, empty, onBusy }: Shown<T>) => {
  const scroller = useRef<HTMLElement>(null);
  const [focused, setFocused] = useState<string>();
  const shown = sorted(rows, columns);
  const focusedAt = focused === undefined ? -1 : shown.findIndex((row) => keyOf(row) === focused);
  const kept = focusedAt < 0 ? undefined : focusedAt;
  const { items, totalSize, scrollTo } = useVirtualRows(shown.length, scroller, { rowRem, kept });
  const tellBusy = (hasFocus: boolean): void => onBusy?.(hasFocus || (scroller.current?.scrollTop ?? 0) > 0);
  const onKeyDown = (event: KeyboardEvent): void => {
    const index = indexAt(event.target);
    const step = stepOf[event.key];
    if (index === undefined || !step) return;
    event.preventDefault();
    const next = step(index, shown.length);
    scrollTo(next);
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`tr[data-index="${next}"] :is(a, button)`)?.focus(),
    );
  };
  if (rows.length === 0) return <div class="empty">{empty}</div>;
  let end = 0;
  return (
    <section
      ref={scroller}
      class="table-scroll"
      style={{ minHeight: `${Math.min(leastRows, shown.length + 1) * (rowRem + 0.1)}rem` }}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by keys
      tabIndex={0}
      aria-label={label}
      onScroll={() => tellBusy(focused !== undefined)}
    >
      <table aria-label={label} aria-rowcount={shown.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <Head key={column.key} column={column} />
            ))}
          </tr>
        </thead>
        <tbody
          onClick={openRow}
          onKeyDown={onKeyDown}
          onFocusIn={(event) => {
            const row = shown[indexAt(event.target) ?? -1];
            setFocused(row && keyOf(row));
            tellBusy(true);
          }}
          onFocusOut={(event) => {
            if (event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)) return;
            setFocused(undefined);
            tellBusy(false);
          }}
        >
          {items.flatMap((item) => {
            const row = shown[item.index];
            if (row === undefined) return [];
            const gap = item.start - end;
            end = item.end;
            return [
              <Spacer key={`before ${keyOf(row)}`} px={gap} columns={columns.length} />,
              <Row key={keyOf(row)} row={row} index={item.index} columns={columns} />,
            ];
          })}
          <Spacer px={totalSize - end} columns={columns.length} />
        </tbody>
      </table>
    </section>
  );
};
