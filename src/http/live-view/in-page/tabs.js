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

/** `close` left out: tabs can't be closed. @param {HTMLElement} list @param {{ show(id: string): void, close?: (id: string) => void }} to */
export const createTabs = (list, { show, close }) => {
  /** @type {Tab[]} */
  let tabs = [];
  /** @type {string | null} */
  let shown = null;

  const item = (/** @type {Tab} */ { id, title, url }) => {
    const made = document.createElement("li");
    const name = title || url || "a tab";
    const choose = button(name, () => show(id));
    choose.dataset.tab = `show ${id}`;
    if (id === shown) choose.setAttribute("aria-current", "true");
    made.append(choose);
    if (close) {
      const end = button("×", () => close(id));
      end.dataset.tab = `close ${id}`;
      end.setAttribute("aria-label", `Close ${name}`);
      made.append(end);
    }
    return made;
  };
  const render = () => {
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.tab : undefined;
    list.replaceChildren(...tabs.map(item));
    // The button that had the focus was made anew.
    const again = [...list.querySelectorAll("button")].find(({ dataset }) => focused && dataset.tab === focused);
    again?.focus();
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
