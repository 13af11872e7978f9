/**
 * The script that runs in a frame: it finds fields and writes into them. It is an expression that is evaluated once in an isolated
 * world of each frame and yields `{ find, unlock, write, leaves, settled, helpers }`; its state belongs to the world and ends with the connection that made it.
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
 * - not disabled (its own attribute or a fieldset's), not read-only, unless it is read-only until it has the focus (`unlock`);
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

  /** Without any of these nothing but a client or an extension changes what is typed. */
  const scripted = [
    "script",
    ...["blur", "change", "focus", "input", "keydown", "keyup"].map((on) => `[on${on}]`),
  ].join();

  /** Longest text that is typed key by key, characters. */
  const maxTyped = 64;
  /** Inputs that are typed into; what is typed may be formatted by a mask. */
  const typedTypes = new Set(["text", "search", "url", "tel", "email", "password", "number"]);
  /** Inputs of several parts, which are set at once. */
  const pickedTypes = new Set(["date", "month", "week", "time", "datetime-local"]);
  const maskableTypes = new Set(["text", "search", "tel", "email", "url", "textarea"]);

  /** @type {Field[]} */
  const known = [];

  /** Fields that are read-only only while they don't have the focus. @type {Set<Field>} */
  const opened = new Set();

  /** What fields hold that the page has not gone on from. @type {Map<Field, string>} */
  const written = new Map();
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
    return field instanceof HTMLTextAreaElement || typedTypes.has(field.type) || pickedTypes.has(field.type);
  };

  /** @param {Element} field */
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

  /** @param {Element} field */
  const isInert = (field) => {
    const chain = withHosts(field);
    const isInside = (/** @type {string} */ selector) => chain.some((element) => element.closest(selector) !== null);
    return isInside("[inert]") || (queryAll(document, "dialog:modal").length > 0 && !isInside("dialog:modal"));
  };

  /** @param {Field} field */
  const isReadOnly = (field) => !(field instanceof HTMLSelectElement) && field.readOnly;

  /** @param {Field} field */
  const isUsable = (field) => takesText(field) && !field.matches(":disabled") && isVisible(field) && !isInert(field);

  /** @param {Field} field */
  const isEditable = (field) => isUsable(field) && (!isReadOnly(field) || opened.has(field));

  /** @type {(scopes: Scope[], selector: string) => { matched: number, editable: Field[], locked: Field[] }} */
  const look = (scopes, selector) => {
    const matches = scopes.flatMap((scope) => [...queryAll(scope, selector)]);
    const fields = new Set(matches.flatMap((match) => /** @type {Field[]} */ (fieldsIn(match))));
    const usable = [...fields].filter(isUsable);
    const isLocked = (/** @type {Field} */ field) => isReadOnly(field) && !opened.has(field);
    const editable = usable.filter((field) => !isLocked(field));
    return { matched: matches.length, editable, locked: usable.filter(isLocked) };
  };

  /** @param {Field} field */
  const idOf = (field) => (known.includes(field) ? known.indexOf(field) : known.push(field) - 1);

  /**
   * Searches each selector. `editable`: ids of the fields, two at most, since more make no difference. `locked`: of those that are
   * read-only now. `limitMs`: how long from now the fields may be written into. `isScripted`: whether the document may change a field.
   * @param {string[]} selectors
   * @param {number} limitMs
   */
  const find = (selectors, limitMs) => {
    writeUntilMs = performance.now() + limitMs;
    const scopes = withShadowRoots(document);
    const found = selectors.map((selector) => {
      try {
        const { matched, editable, locked } = look(scopes, selector);
        const [ids, lockedIds] = [editable, locked].map((fields) => fields.slice(0, 2).map(idOf));
        return { isValid: true, matched, editable: ids, locked: lockedIds };
      } catch {
        return { isValid: false, matched: 0, editable: [], locked: [] };
      }
    });
    const isScripted = queryAll(document, scripted).length > 0;
    return { url: location.href, origin, hasFocus: hasFocus(), isScripted, found };
  };

  /** Waits for the tasks that wait already. */
  const nextTask = async () => {
    const { port1, port2 } = new MessageChannel();
    await new Promise((resolve) => {
      port1.onmessage = resolve;
      port2.postMessage(undefined);
    });
    port1.close();
  };

  /**
   * Gives each of these read-only fields the focus, as a person would; returns the ids of those that can be written into then.
   * @param {number[]} ids
   */
  const unlock = async (ids) => {
    const able = [];
    for (const id of ids) {
      const field = known[id];
      if (!field) continue;
      field.focus();
      if (isReadOnly(field)) await nextTask();
      if (isUsable(field) && !isReadOnly(field)) {
        able.push(id);
        opened.add(field);
      }
      if (isActive(field)) field.blur();
    }
    return able;
  };

  /** @param {Field} field */
  const activeBeside = (field) => {
    const root = field.getRootNode();
    return root instanceof ShadowRoot ? root.activeElement : activeInDocument(document);
  };

  /** @param {Field} field */
  const isActive = (field) => activeBeside(field) === field;

  /** Why the field may not be written into now. @type {(field: Field, selector: string) => string | undefined} */
  const problemOf = (field, selector) => {
    if (performance.now() >= writeUntilMs) return "timeout";
    if (isLeaving() || !field.isConnected || field.ownerDocument !== document) return "target_changed";
    if (!isEditable(field)) return "element_not_editable";
    const { editable } = look(withShadowRoots(document), selector);
    if (!editable.includes(field)) return "target_changed";
    return editable.length > 1 ? "ambiguous_selector" : undefined;
  };

  /** @param {string} value */
  const isCode = (value) => /^[\p{L}\p{N}]{2,12}$/u.test(value);

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
    const [plain, kept] = [lettersAndDigits(value), lettersAndDigits(field.value)];
    if (!maskableTypes.has(field.type) || plain === "") return false;
    // A mask for telephone numbers may put the country's code before a number without one.
    const isPrefixed = /^\d{7,}$/.test(plain) && /^\+\d{1,3}\D/.test(field.value) && !value.trim().startsWith("+");
    return kept === plain || (isPrefixed && /^\d{1,3}$/.test(kept.slice(0, -plain.length)) && kept.endsWith(plain));
  };

  /** The field and those after it that are like it, in order: the boxes of a code. @param {Field} field */
  const boxesFrom = (field) => {
    const root = field.getRootNode();
    const all = root instanceof Document || root instanceof ShadowRoot ? [...queryAll(root, "input")] : [];
    const inputs = /** @type {HTMLInputElement[]} */ (all);
    const [, ...after] = inputs.slice(inputs.indexOf(/** @type {HTMLInputElement} */ (field)));
    return [field, ...after.filter((input) => input.type === field.type && isVisible(input))];
  };

  /** Whether a code is in boxes of one character each, of which the field is the first. @type {(field: Field, value: string) => boolean} */
  const isSpread = (field, value) => {
    const boxes = boxesFrom(field).slice(0, value.length);
    const isInBoxes = boxes.every((box) => box.value.length === 1);
    return isCode(value) && isInBoxes && boxes.map((box) => box.value).join("") === value;
  };

  /** @type {(field: Field, value: string) => boolean} */
  const keeps = (field, value) => holds(field, value) || isSpread(field, value);

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

  /** What a keyboard tells of the key of a character. @param {string} char */
  const keyOf = (char) => {
    const capital = char.toUpperCase();
    const isLetter = /^[A-Z]$/.test(capital);
    const code =
      { [char]: "", " ": "Space" }[char] || (isLetter ? `Key${capital}` : /^\d$/.test(char) ? `Digit${char}` : "");
    const keyCode = code === "" ? 0 : capital.charCodeAt(0);
    return { key: char, code, keyCode, which: keyCode, shiftKey: isLetter && char === capital };
  };

  /** @type {(field: Field, type: "keydown" | "keypress" | "keyup", char: string) => boolean} */
  const tellKey = (field, type, char) => {
    const about = { ...keyOf(char), bubbles: true, cancelable: true, composed: true };
    return field.dispatchEvent(new KeyboardEvent(type, about));
  };

  /** Waits for work that the page has deferred to the end of the task: frameworks render then. */
  const pageHasReacted = async () => {
    await undefined;
  };

  /**
   * Presses the key of a character. The text goes through the browser's own editing, so that `input` is that of typing, frameworks see it,
   * and `change` comes with the blur. It goes into this field or nowhere: `execCommand` edits what has the focus in this document, and
   * nothing else runs between the check and the edit.
   * @type {(field: Field, char: string) => Promise<void>}
   */
  const press = async (field, char) => {
    const isTyped = tellKey(field, "keydown", char) && tellKey(field, "keypress", char);
    // A page that cancels an event may have entered the character itself, as masks do.
    if (isTyped && isActive(field) && mayType(field, char) && isActive(field)) command("insertText", char);
    await pageHasReacted();
    const now = activeBeside(field);
    tellKey(isField(now) ? now : field, "keyup", char);
    await pageHasReacted();
  };

  /**
   * The field for the next character. Of a code the page may have passed the focus to its next box, and a box that is full is left.
   * @type {(field: Field, boxes: Field[]) => Field}
   */
  const nextBox = (field, boxes) => {
    const now = activeBeside(field);
    if (now !== field && isField(now) && boxes.includes(now)) return now;
    const next = boxes[boxes.indexOf(field) + 1];
    const isFull = field instanceof HTMLInputElement && field.maxLength === 1 && field.value !== "";
    if (!isFull || !next || !("maxLength" in next) || next.maxLength !== 1) return field;
    next.focus();
    return next;
  };

  /** @type {(field: Field, value: string) => Promise<void>} */
  const typeKeys = async (field, value) => {
    const boxes = isCode(value) ? boxesFrom(field) : [];
    /** @type {Field} */
    let at = field;
    let isFirst = true;
    for (const char of value) {
      if (!isFirst) at = nextBox(at, boxes);
      isFirst = false;
      if (performance.now() >= writeUntilMs || !at.isConnected || !isActive(at)) return;
      await press(at, char);
    }
  };

  /** Enters the whole text at once, as a paste and as one input. @type {(field: Field, value: string) => Promise<void>} */
  const insert = async (field, value) => {
    if (field instanceof HTMLSelectElement) return;
    const last = [...value].at(-1) ?? "";
    field.select();
    if (last !== "") tellKey(field, "keydown", last);
    if (isActive(field) && mayType(field, value) && isActive(field))
      command(value === "" ? "delete" : "insertText", value);
    if (last !== "") tellKey(field, "keyup", last);
    await pageHasReacted();
  };

  /** Pastes a code into its first box: some pages spread one over their boxes only then. @type {(field: Field, value: string) => Promise<void>} */
  const paste = async (field, value) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", value);
    const about = { clipboardData, bubbles: true, cancelable: true, composed: true };
    field.dispatchEvent(new ClipboardEvent("paste", about));
    await pageHasReacted();
  };

  /**
   * The ways to enter a value, the usual one first; the next is tried when the field does not hold the value then.
   * @type {(field: Field, value: string) => ((field: Field, value: string) => Promise<void>)[]}
   */
  const waysOf = (field, value) => {
    if (isCode(value) && boxesFrom(field).length >= value.length) return [typeKeys, paste, insert];
    // The beginnings of a number, as "-", are none: a page could take them for an empty field.
    const isTyped = field.type !== "number" && value !== "" && value.length <= maxTyped && !value.includes("\n");
    return isTyped ? [typeKeys, insert] : [insert];
  };

  /**
   * Whether the page has taken the value and moved on by itself, to another page or step, or with an empty field to the next one.
   * @param {Field} field
   */
  const hasMovedOn = (field) =>
    isLeaving() || !field.isConnected || field.matches(":disabled") || (!isActive(field) && field.value === "");

  /** `isGone`: the page has taken the value and emptied the field. @typedef {{ problem?: string, isGone?: boolean }} Entered */

  /** Sets what is not typed. @type {(field: Field, value: string) => Promise<Entered>} */
  const pick = async (field, value) => {
    if (field instanceof HTMLSelectElement) {
      const problem = choose(field, value);
      if (problem !== undefined) return { problem };
    } else {
      field.value = value;
      announce(field);
    }
    await pageHasReacted();
    return holds(field, value) ? {} : { problem: "execution_failed" };
  };

  /** How the field is after one way of typing; undefined when another one may help. @type {(field: Field, value: string, wasIn: boolean) => Entered | undefined} */
  const stateOf = (field, value, wasIn) => {
    if (keeps(field, value)) return {};
    if (wasIn && hasMovedOn(field)) return { isGone: true };
    if (performance.now() >= writeUntilMs) return { problem: "timeout" };
    const isOver = isLeaving() || !field.isConnected || field.matches(":disabled");
    return isOver ? { problem: "execution_failed" } : undefined;
  };

  /** Types until the field has the value, in one way after the other. @type {(field: Field, value: string, wasIn: () => boolean) => Promise<Entered>} */
  const typeIn = async (field, value, wasIn) => {
    for (const way of waysOf(field, value)) {
      field.focus();
      if (!isActive(field) || field instanceof HTMLSelectElement) break;
      field.select();
      await way(field, value);
      const state = stateOf(field, value, wasIn());
      if (state) return state;
    }
    return { problem: "execution_failed" };
  };

  /** @type {(field: Field, value: string) => Promise<Entered>} */
  const enter = async (field, value) => {
    if (field instanceof HTMLSelectElement || pickedTypes.has(field.type)) return pick(field, value);
    let wasIn = false;
    const noticeInput = () => {
      wasIn ||= holds(field, value);
    };
    // Runs before the page's own listeners, which may empty the field.
    addEventListener("input", noticeInput, { capture: true });
    try {
      return await typeIn(field, value, () => wasIn);
    } finally {
      removeEventListener("input", noticeInput, { capture: true });
    }
  };

  /** Takes the focus from the field or from the box that has it, which fires `change` and `blur`. @param {Field} field */
  const leave = async (field) => {
    const now = activeBeside(field);
    if (isField(now) && (now === field || boxesFrom(field).includes(/** @type {HTMLInputElement} */ (now)))) now.blur();
    await pageHasReacted();
  };

  /** Gives the field the focus; why it may not be written into then. @type {(field: Field, selector: string) => Promise<string | undefined>} */
  const focus = async (field, selector) => {
    const problem = problemOf(field, selector);
    if (problem !== undefined) return problem;
    field.focus();
    if (opened.has(field) && isReadOnly(field)) await nextTask();
    const isReady = isActive(field) && !isReadOnly(field);
    return problemOf(field, selector) ?? (isReady ? undefined : "element_not_editable");
  };

  /** @type {(field: Field, selector: string, value: string) => Promise<string | undefined>} */
  const focusAndPut = async (field, selector, value) => {
    const unready = await focus(field, selector);
    if (unready !== undefined) return unready;
    const { problem, isGone } = await enter(field, value);
    if (problem !== undefined) return problem;
    await leave(field);
    if (isGone || isLeaving() || !field.isConnected || field.matches(":disabled")) return undefined;
    if (!keeps(field, value)) return "execution_failed";
    written.set(field, value);
    return undefined;
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
    await nextTask();
    return isLeaving();
  };

  /**
   * Why a field that was filled isn't any more: the page has emptied or changed it since, or has made it anew without its value. A page
   * that goes on, disables or hides the field, or has none like it any more, has taken the value.
   * @type {(id: number, selector: string) => string | undefined}
   */
  const settled = (id, selector) => {
    const field = known[id];
    const value = field && written.get(field);
    if (!field || value === undefined || isLeaving()) return undefined;
    if (field.isConnected) return keeps(field, value) || !isUsable(field) ? undefined : "execution_failed";
    const { editable } = look(withShadowRoots(document), selector);
    const same = editable.filter(
      ({ type, name, id: own }) => type === field.type && name === field.name && own === field.id,
    );
    return same.length === 0 || same.some((one) => keeps(one, value)) ? undefined : "target_changed";
  };

  /** What survey.js goes by. */
  const helpers = { queryAll, withShadowRoots, isEditable, isVisible, isInert };

  return { find, unlock, write, leaves, settled, helpers };
})();
