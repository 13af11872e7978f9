/**
 * The script that runs in a frame: it finds fields and writes into them. It is an expression that is evaluated once in an isolated
 * world of each frame and yields `{ find, write, leaves }`; its state belongs to the world and ends with the connection that made it.
 *
 * An isolated world shares the DOM with the page, but no script object: the page's changes of prototypes, setters or
 * `querySelector` have no effect here, and the page sees nothing of this script. But the page can name elements so that
 * they shadow properties of `document` and of forms (`<img name=querySelectorAll>`). So those are never read as
 * properties: their functions and getters are taken from the prototypes. A field has no such names.
 *
 * The field of a selector: matches are searched in the document and in all open shadow roots; each match is a field itself or
 * contains fields, in its shadow trees too. Of these the *editable* ones count, each once:
 * - a `select`, a `textarea`, or an `input` of a type that takes text (`typedTypes`, `pickedTypes`); no button, checkbox, radio, file,
 *   image, hidden, color or range, and nothing `contenteditable`;
 * - not disabled (its own attribute or a fieldset's), not read-only;
 * - visible: rendered (no `display: none`, no `content-visibility: hidden` around it), not `visibility: hidden`, with a
 *   width and a height above 0, in a frame that has both;
 * - not inert: neither it nor what it is in within its document has `inert`, and no open modal dialog leaves it outside.
 * Opacity, `aria-hidden`, a place off the screen and elements that cover the field do not matter: real fields have them too. Of
 * the frame itself only the size matters.
 */
(() => {
  /** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field */
  /** @typedef {Document | ShadowRoot | Element} Scope */

  /** @type {<This, Value>(prototype: This, name: keyof This) => (self: This) => Value} */
  const getterOf = (prototype, name) => {
    const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
    return (self) => Reflect.apply(/** @type {() => any} */ (get), self, []);
  };
  /** @type {(scope: Scope, selector: string) => NodeListOf<Element>} */
  const queryAll = (scope, selector) => {
    const { querySelectorAll } =
      [Document, DocumentFragment, Element].find((type) => scope instanceof type)?.prototype ?? scope;
    return Reflect.apply(querySelectorAll, scope, [selector]);
  };
  const shadowRootOf = /** @type {(element: Element) => ShadowRoot | null} */ (
    getterOf(Element.prototype, "shadowRoot")
  );
  const activeInDocument = /** @type {(root: Document) => Element | null} */ (
    getterOf(Document.prototype, "activeElement")
  );
  const hasFocus = () => Reflect.apply(Document.prototype.hasFocus, document, []);
  const command = (/** @type {string} */ name, /** @type {string} */ value) =>
    Reflect.apply(Document.prototype.execCommand, document, [name, false, value]);

  const fieldTags = "input, textarea, select";
  /** Inputs that are typed into; what is typed may be formatted by a mask. */
  const typedTypes = new Set(["text", "search", "url", "tel", "email", "password", "number"]);
  /** Inputs of several parts, which are set at once. */
  const pickedTypes = new Set(["date", "month", "week", "time", "datetime-local"]);
  const maskableTypes = new Set(["text", "search", "tel", "email", "url", "textarea"]);

  /** @type {Field[]} */
  const known = [];
  /** On the clock of `performance.now()`, ms: from then on nothing is written. */
  let writeUntilMs = 0;
  /** Whether a script, a form or a link has begun a navigation to another document, and nothing has come in its way. */
  let hasNavigated = false;
  navigation.addEventListener("navigate", ({ destination, downloadRequest }) => {
    if (!destination.sameDocument && downloadRequest === null) hasNavigated = true;
  });
  for (const end of ["navigatesuccess", "navigateerror"])
    navigation.addEventListener(end, () => {
      hasNavigated = false;
    });
  // A router that has intercepted the navigation is in a transition, and the document stays.
  const isLeaving = () => hasNavigated && navigation.transition === null;
  /** Whether the page has collected a form's entries since the last write: it submits the form, or a script reads them. */
  let isCollected = false;
  addEventListener(
    "formdata",
    () => {
      isCollected = true;
    },
    { capture: true },
  );

  /** `scope` and all open shadow roots below it. @param {Scope} scope */
  const withShadowRoots = (scope) => {
    const scopes = [scope];
    for (const each of scopes) {
      const own = each instanceof Element ? shadowRootOf(each) : null;
      if (own) scopes.push(own);
      for (const element of queryAll(each, "*")) {
        const root = shadowRootOf(element);
        if (root) scopes.push(root);
      }
    }
    return scopes;
  };

  /** @type {(element: unknown) => element is Field} */
  const isField = (element) =>
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement;

  /** @param {Element} match */
  const fieldsIn = (match) =>
    isField(match) ? [match] : withShadowRoots(match).flatMap((scope) => [...queryAll(scope, fieldTags)]);

  /** @param {Field} field */
  const takesText = (field) => {
    if (field instanceof HTMLSelectElement) return true;
    if (field.readOnly) return false;
    return field instanceof HTMLTextAreaElement || typedTypes.has(field.type) || pickedTypes.has(field.type);
  };

  /** @param {Field} field */
  const isVisible = (field) => {
    const { width, height } = field.getBoundingClientRect();
    return (
      width > 0 &&
      height > 0 &&
      innerWidth > 0 &&
      innerHeight > 0 &&
      field.checkVisibility({ visibilityProperty: true })
    );
  };

  /** The element and the hosts of the shadow trees that it is in, innermost first. @param {Element} element */
  const withHosts = (element) => {
    const chain = [element];
    for (let root = element.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode())
      chain.push(root.host);
    return chain;
  };

  /** @param {Field} field */
  const isInert = (field) => {
    const chain = withHosts(field);
    const isInside = (/** @type {string} */ selector) => chain.some((element) => element.closest(selector) !== null);
    return isInside("[inert]") || (queryAll(document, "dialog:modal").length > 0 && !isInside("dialog:modal"));
  };

  /** @param {Field} field */
  const isEditable = (field) => takesText(field) && !field.matches(":disabled") && isVisible(field) && !isInert(field);

  /** @type {(scopes: Scope[], selector: string) => { matched: number, editable: Field[] }} */
  const look = (scopes, selector) => {
    const matches = scopes.flatMap((scope) => [...queryAll(scope, selector)]);
    const fields = new Set(matches.flatMap((match) => /** @type {Field[]} */ (fieldsIn(match))));
    return { matched: matches.length, editable: [...fields].filter(isEditable) };
  };

  /** @param {Field} field */
  const idOf = (field) => (known.includes(field) ? known.indexOf(field) : known.push(field) - 1);

  /**
   * Searches each selector. `editable`: ids of the fields, two at most, since more make no difference. `limitMs`: how long from now
   * the fields may be written into.
   * @param {string[]} selectors
   * @param {number} limitMs
   */
  const find = (selectors, limitMs) => {
    writeUntilMs = performance.now() + limitMs;
    const scopes = withShadowRoots(document);
    const found = selectors.map((selector) => {
      try {
        const { matched, editable } = look(scopes, selector);
        return { isValid: true, matched, editable: editable.slice(0, 2).map(idOf) };
      } catch {
        return { isValid: false, matched: 0, editable: [] };
      }
    });
    return { url: location.href, origin, hasFocus: hasFocus(), found };
  };

  /** @param {Field} field */
  const isActive = (field) => {
    const root = field.getRootNode();
    return (root instanceof ShadowRoot ? root.activeElement : activeInDocument(document)) === field;
  };

  /** Why the field may not be written into now. @type {(field: Field, selector: string) => string | undefined} */
  const problemOf = (field, selector) => {
    if (performance.now() >= writeUntilMs) return "timeout";
    if (isLeaving() || !field.isConnected || field.ownerDocument !== document) return "target_changed";
    if (!isEditable(field)) return "element_not_editable";
    const { editable } = look(withShadowRoots(document), selector);
    if (!editable.includes(field)) return "target_changed";
    return editable.length > 1 ? "ambiguous_selector" : undefined;
  };

  /** @param {string} text */
  const lettersAndDigits = (text) => text.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();

  /**
   * Whether the field has the value. A mask may add, drop and exchange everything but letters and digits and change their
   * case; in a password, a number, a date or a select every character counts.
   * @param {Field} field
   * @param {string} value
   */
  const holds = (field, value) => {
    if (field.value === value) return true;
    const plain = lettersAndDigits(value);
    return maskableTypes.has(field.type) && plain !== "" && lettersAndDigits(field.value) === plain;
  };

  /** @param {Field} field */
  const announce = (field) => {
    field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  };

  /** @type {(select: HTMLSelectElement, value: string) => string | undefined} */
  const choose = (select, value) => {
    const wanted = [...select.options].find((option) => option.value === value && !option.matches(":disabled"));
    if (!wanted) return "option_not_found";
    for (const option of select.options) option.selected = option === wanted;
    announce(select);
    return undefined;
  };

  /** Sends the page the event that precedes a change of a field; `execCommand` does not send it. @type {(field: Field, data: string) => boolean} */
  const mayType = (field, data) => {
    const about = { inputType: "insertText", data, bubbles: true, cancelable: true, composed: true };
    return field.dispatchEvent(new InputEvent("beforeinput", about));
  };

  /**
   * Enters the value. Text goes through the browser's own editing, so that `input` is that of typing, frameworks see it, and `change`
   * comes with the blur. It does not use `Input.insertText`, which writes into the element that has the focus when the call arrives:
   * by then a page could have moved the focus into another frame.
   * @type {(field: Field, value: string) => string | undefined}
   */
  const put = (field, value) => {
    if (field instanceof HTMLSelectElement) return choose(field, value);
    if (pickedTypes.has(field.type)) {
      field.value = value;
      announce(field);
      return undefined;
    }
    field.select();
    // A page that cancels the event may have entered the value itself, as masks do.
    if (mayType(field, value) && isActive(field)) command(value === "" ? "delete" : "insertText", value);
    return undefined;
  };

  /** Waits for work that the page has deferred to the end of the task: frameworks render then. */
  const pageHasReacted = async () => {
    await undefined;
  };

  /**
   * Whether the page has taken the value and moved on by itself, to the next field or another page. Then the field may be empty.
   * @param {Field} field
   */
  const hasMovedOn = (field) => isLeaving() || !field.isConnected || field.matches(":disabled") || !isActive(field);

  /** @type {(field: Field, value: string) => Promise<string | undefined>} */
  const putAndCheck = async (field, value) => {
    let wasIn = false;
    const noticeInput = () => {
      wasIn ||= holds(field, value);
    };
    // Runs before the page's own listeners, which may empty the field.
    addEventListener("input", noticeInput, { capture: true });
    try {
      const problem = put(field, value);
      if (problem !== undefined) return problem;
    } finally {
      removeEventListener("input", noticeInput, { capture: true });
    }
    await pageHasReacted();
    return holds(field, value) || (wasIn && hasMovedOn(field)) ? undefined : "execution_failed";
  };

  /** @type {(field: Field, selector: string, value: string) => Promise<string | undefined>} */
  const focusAndPut = async (field, selector, value) => {
    const problem = problemOf(field, selector);
    if (problem !== undefined) return problem;
    field.focus();
    const focused = problemOf(field, selector) ?? (isActive(field) ? undefined : "element_not_editable");
    if (focused !== undefined) return focused;
    const unfilled = await putAndCheck(field, value);
    if (unfilled === undefined && isActive(field)) field.blur();
    return unfilled;
  };

  /**
   * Writes `value` into a field that `find` has named, in one turn: it checks the field again, focuses it, checks it once more, and
   * writes. Afterwards the field loses the focus, which fires `change` and `blur`. `problem`: the error code of a field that isn't
   * filled. `mayLeave`: a form may be on its way; ask `leaves`.
   * @param {number} id
   * @param {string} selector
   * @param {string} value
   */
  const write = async (id, selector, value) => {
    const field = known[id];
    const problem = field ? await focusAndPut(field, selector, value) : "target_changed";
    const mayLeave = isCollected;
    isCollected = false;
    return { problem, isLeaving: isLeaving(), mayLeave };
  };

  /** Whether the document leaves. Answers behind the tasks that wait already: a submitted form begins its navigation in one. */
  const leaves = async () => {
    const { port1, port2 } = new MessageChannel();
    await new Promise((resolve) => {
      port1.onmessage = resolve;
      port2.postMessage(undefined);
    });
    port1.close();
    return isLeaving();
  };

  return { find, write, leaves };
})();
