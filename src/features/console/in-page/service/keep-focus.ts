/** Where the focus goes when what had it is gone: to the heading of the view, as at the begin of a page. */

/** Begins to look after the focus. Returns what ends it. */
export const keepFocus = (): (() => void) => {
  let last: Element | null = null;
  const note = ({ target }: FocusEvent): void => {
    last = target instanceof Element ? target : null;
  };
  // Who clicks beside everything has no focus, and is left alone.
  const watch = new MutationObserver(() => {
    if (!last || last.isConnected || document.activeElement !== document.body) return;
    document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  });
  document.addEventListener("focusin", note);
  watch.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener("focusin", note);
    watch.disconnect();
  };
};
