import { query, setFilter } from "../router.ts";

/** A field that filters a view; what is typed is in the address. */
export const Search = ({ label, name = "query" }: { label: string; name?: string }) => (
  <input
    type="search"
    class="filter"
    aria-label={label}
    placeholder={label}
    value={query.value.get(name) ?? ""}
    onInput={({ currentTarget }) => setFilter(name, currentTarget.value)}
  />
);

/** A choice that filters a view; the first one is the usual one, and not in the address. */
export const Choice = ({
  label,
  name,
  options,
}: {
  label: string;
  name: string;
  options: readonly (readonly [value: string, text: string])[];
}) => (
  <select
    class="filter"
    aria-label={label}
    value={query.value.get(name) ?? options[0]?.[0]}
    onChange={({ currentTarget }) =>
      setFilter(name, currentTarget.value === options[0]?.[0] ? "" : currentTarget.value)
    }
  >
    {options.map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
);
