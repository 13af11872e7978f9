import { useEffect, useState } from "preact/hooks";
import { query, setFilter } from "../router.ts";

/** What is typed into a filter, once a person has paused: each text is a request. */
export const useTyped = (name = "query"): string => {
  const text = query.value.get(name) ?? "";
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return typed;
};

/** A field that filters a view; what is typed is in the address. `drops`: as `setFilter` takes it. */
export const Search = ({ label, name = "query", drops }: { label: string; name?: string; drops?: string }) => (
  <input
    type="search"
    class="filter"
    aria-label={label}
    placeholder={label}
    value={query.value.get(name) ?? ""}
    onInput={({ currentTarget }) => setFilter(name, currentTarget.value, drops)}
  />
);

/** A choice that filters a view; the first one is the usual one, and not in the address. */
export const Choice = ({
  label,
  name,
  options,
  drops,
}: {
  label: string;
  name: string;
  drops?: string;
  options: readonly (readonly [value: string, text: string])[];
}) => (
  <select
    class="filter"
    aria-label={label}
    value={query.value.get(name) ?? options[0]?.[0]}
    onChange={({ currentTarget }) =>
      setFilter(name, currentTarget.value === options[0]?.[0] ? "" : currentTarget.value, drops)
    }
  >
    {options.map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
);
