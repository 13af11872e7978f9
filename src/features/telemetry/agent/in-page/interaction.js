/**
 * Tells clicks, keys and scrolling of a document: the kind of the element, never what is typed, written or named. It runs in a world of
 * its own, so the page neither sees nor changes it; events that the page makes up are not counted.
 */
(() => {
  /** How long a document stands still before its scrolling counts as over, ms. */
  const settledMs = 200;
  /** The types of inputs that are told; a page could write anything else there. */
  const types = new Set(
    "button checkbox color date datetime-local email file image month number password radio range reset search submit tel text time url week".split(
      " ",
    ),
  );
  /** @type {(text: string) => void} */
  const send = /** @type {any} */ (globalThis).browserpoolInteraction;
  /** @type {(what: object) => void} */
  const tell = (what) => send(JSON.stringify(what));

  /** @type {(event: Event) => string | undefined} */
  const kindOf = (event) => {
    const [target] = event.composedPath();
    if (!(target instanceof Element)) return undefined;
    const tag = target.localName.slice(0, 64);
    if (!(target instanceof HTMLInputElement)) return tag;
    const type = (target.getAttribute("type") ?? "text").toLowerCase();
    return `${tag}[type=${types.has(type) ? type : "text"}]`;
  };

  addEventListener(
    "click",
    (event) => {
      if (event.isTrusted) tell({ type: "click", tag: kindOf(event), x: event.clientX, y: event.clientY });
    },
    { capture: true, passive: true },
  );
  addEventListener(
    "keydown",
    (event) => {
      if (!event.isTrusted) return;
      // A key that types something has itself as its name.
      const isNamed = event.key.length > 1 && /^[A-Za-z0-9]+$/.test(event.key);
      tell({ type: "key", tag: kindOf(event), ...(isNamed && { key: event.key }) });
    },
    { capture: true, passive: true },
  );
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  addEventListener(
    "scroll",
    (event) => {
      if (!event.isTrusted || event.target !== document) return;
      clearTimeout(timer);
      timer = setTimeout(() => tell({ type: "scroll", x: scrollX, y: scrollY }), settledMs);
    },
    { capture: true, passive: true },
  );
})();
