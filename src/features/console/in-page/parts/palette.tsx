/** ⌘K or Ctrl+K: goes anywhere by a few letters. */
import { signal } from "@preact/signals";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { go, to } from "../router.ts";
import { pools, sessions } from "../service/live.ts";
import { maySee, views } from "../views.ts";
import { Dialog } from "./dialog.tsx";
import { plainText } from "./text.tsx";

type Place = { name: string; what: string; address: string };

const isOpen = signal(false);

/** Opens it. */
export const openPalette = (): void => {
  isOpen.value = true;
};

/** Places that are shown at most. */
const most = 12;

const viewPlaces = (): Place[] =>
  views
    .filter((view) => !view.path.includes(":") && maySee(view))
    .map(({ path, title }) => ({ name: title, what: "view", address: to(path.slice(1).split("/")) }));

const matches = (wanted: string, ...texts: (string | undefined)[]): boolean =>
  texts.some((text) => text?.toLowerCase().includes(wanted));

const poolPlaces = (wanted: string): Place[] =>
  [...pools.byId.values()]
    .filter(({ id, name }) => matches(wanted, id, name))
    .map(({ id, name }) => ({ name: name ?? id, what: "pool", address: to(["pools", id]) }));

const sessionPlaces = (wanted: string): Place[] =>
  [...sessions.byId.values()]
    .filter(({ session_id, name }) => matches(wanted, session_id, name))
    .slice(0, most)
    .map(({ session_id, name, pool }) => ({
      name: name ?? session_id,
      what: `session of ${pool?.name ?? "no pool"}`,
      address: to(["sessions", session_id]),
    }));

/** The places whose name, or id, has these letters: views first, then pools, then sessions. */
const placesFor = (letters: string): Place[] => {
  const wanted = letters.trim().toLowerCase();
  const found = viewPlaces().filter(({ name }) => matches(wanted, name));
  const objects = wanted === "" ? [] : [...poolPlaces(wanted), ...sessionPlaces(wanted)];
  return [...found, ...objects].slice(0, most);
};

const Search = ({ close }: { close: () => void }) => {
  const [letters, setLetters] = useState("");
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const places = placesFor(letters);
  const chosen = Math.min(at, places.length - 1);
  const choose = (place: Place | undefined): void => {
    if (!place) return;
    close();
    go(place.address);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((chosen + step + places.length) % Math.max(1, places.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose(places[chosen]);
    }
  };
  useEffect(() => input.current?.focus(), []);
  return (
    <>
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Name of a view, a pool or a session"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={places.length > 0 ? `${listId}-${chosen}` : undefined}
        autocomplete="off"
        spellcheck={false}
        value={letters}
        onInput={({ currentTarget }) => {
          setLetters(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={listId} aria-label="Places" class="places">
        {places.map((place, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input takes the keys
          // biome-ignore lint/a11y/useFocusableInteractive: as above
          <div
            key={place.address}
            role="option"
            id={`${listId}-${index}`}
            aria-selected={index === chosen}
            onClick={() => choose(place)}
          >
            <bdi>{plainText(place.name)}</bdi> <span class="muted">{plainText(place.what)}</span>
          </div>
        ))}
      </div>
      <p class="muted" role="status">
        {places.length === 0 ? "Nothing has this name." : ""}
      </p>
    </>
  );
};

/** The search, while it is open. */
export const Palette = () => {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.altKey) return;
      event.preventDefault();
      isOpen.value = !isOpen.value;
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  if (!isOpen.value) return null;
  const close = (): void => {
    isOpen.value = false;
  };
  return (
    <Dialog title="Go to" onClose={close}>
      <Search close={close} />
    </Dialog>
  );
};
