import type { ComponentChildren } from "preact";

/** A short table of texts, which scrolls sideways where it has no room. `rows`: `tr` elements. */
export const PlainTable = ({
  label,
  head,
  children: rows,
}: {
  label: string;
  head: readonly string[];
  children: ComponentChildren;
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by keys
  <section class="plain" tabIndex={0} aria-label={label}>
    <table>
      <thead>
        <tr>
          {head.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{rows}</tbody>
    </table>
  </section>
);
