/** The list of the browser's tabs. */

/** @typedef {{ id: string, title: string, url: string }} Tab */

/** @param {string} label @param {() => void} onClick */
const button = (label, onClick) => {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", onClick);
  return made;
};

/**
 * `close` left out: tabs can't be closed. A tab keeps its buttons for as long as it is there: a press would be lost, and the focus, with a
 * button that is made anew under it.
 * @param {HTMLElement} list @param {{ show(id: string): void, close?: (id: string) => void }} to
 */
export const createTabs = (list, { show, close }) => {
  /** @type {Tab[]} */
  let tabs = [];
  /** @type {string | null} */
  let shown = null;
  /** @type {Map<string, { item: HTMLElement, choose: HTMLElement, end?: HTMLElement | undefined }>} */
  const items = new Map();

  const make = (/** @type {string} */ id) => {
    const item = document.createElement("li");
    const choose = button("", () => show(id));
    const end = close && button("×", () => close(id));
    item.append(choose, ...(end ? [end] : []));
    const made = { item, choose, end };
    items.set(id, made);
    return made;
  };
  const removeEnded = () => {
    for (const [id, { item }] of items) {
      if (tabs.some((tab) => tab.id === id)) continue;
      item.remove();
      items.delete(id);
    }
  };
  const itemOf = (/** @type {Tab} */ { id, title, url }) => {
    const { item, choose, end } = items.get(id) ?? make(id);
    const name = title || url || "a tab";
    if (choose.textContent !== name) choose.textContent = name;
    if (id === shown) choose.setAttribute("aria-current", "true");
    else choose.removeAttribute("aria-current");
    end?.setAttribute("aria-label", `Close ${name}`);
    return item;
  };
  const render = () => {
    removeEnded();
    for (const [index, tab] of tabs.entries()) {
      const [item, there] = [itemOf(tab), list.children[index]];
      if (there !== item) list.insertBefore(item, there ?? null);
    }
  };

  return {
    /** @param {Tab[]} next */
    set(next) {
      tabs = next;
      render();
    },
    /** @param {string | null} id */
    setShown(id) {
      if (id === shown) return;
      shown = id;
      render();
    },
    shown: () => tabs.find(({ id }) => id === shown),
  };
};
