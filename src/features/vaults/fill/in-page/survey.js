/**
 * What a frame shows of a login: its fields, what can be pressed, its text. It yields a function that is called with the
 * helpers of fields.js, in the same isolated world, and returns `{ survey, press, submit }`. What is in a field never leaves the
 * page, only whether it is empty. Texts are cut before they leave it.
 */
/**
 * @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field
 * @typedef {object} Helpers
 * @property {(scope: Document | ShadowRoot | Element, selector: string) => NodeListOf<Element>} queryAll
 * @property {(scope: Document | ShadowRoot | Element) => (Document | ShadowRoot | Element)[]} withShadowRoots
 * @property {(field: Field) => boolean} isEditable
 * @property {(element: Element) => boolean} isVisible
 * @property {(element: Element) => boolean} isInert
 */

(() => {
  let { queryAll, withShadowRoots, isEditable, isVisible, isInert } = /** @type {Helpers} */ ({});
  const most = { fields: 40, pressables: 80, embeds: 20, text: 20_000, line: 160, path: 12 };

  const pressed =
    "button, a[href], input:is([type=submit], [type=button], [type=image], [type=radio], [type=checkbox]), [role=button], [role=link], [role=radio]";
  const busy = "[aria-busy=true], [role=progressbar], progress";
  const embedded = "iframe, [class*=captcha i], [id*=captcha i]";
  const grouping = "form, dialog, [role=form], [role=dialog]";

  /** @type {HTMLElement[]} */
  let pressables = [];
  /** @type {Field[]} */
  let fields = [];

  /** @param {unknown} text */
  const line = (text) =>
    String(text ?? "")
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, most.line)
      .toWellFormed();

  /** @type {(element: Element) => Document | ShadowRoot} */
  const rootOf = (element) => /** @type {Document | ShadowRoot} */ (element.getRootNode());

  /** @param {Element} element */
  const labelledBy = (element) =>
    (element.getAttribute("aria-labelledby") ?? "")
      .split(/\s+/)
      .filter((id) => id !== "")
      .flatMap((id) => [...queryAll(rootOf(element), `#${CSS.escape(id)}`)])
      .map((label) => label.textContent)
      .join(" ");

  /** The text before a field that has no label of its own. @param {Element} element */
  const textBefore = (element) => {
    const before = element.previousElementSibling ?? element.parentElement?.previousElementSibling;
    if (!before || queryAll(before, "input, select, textarea, button").length > 0) return "";
    const text = line(before.textContent);
    return text.length <= 60 ? text : "";
  };

  /** @param {HTMLInputElement | Field} field */
  const labelOf = (field) => {
    const own = [...(field.labels ?? [])].map((label) => label.textContent).join(" ");
    const texts = [own, labelledBy(field), field.getAttribute("aria-label"), field.getAttribute("placeholder")];
    return line(texts.find((text) => line(text) !== "") ?? textBefore(field));
  };

  /** @param {Element} element */
  const pathOf = (element) => {
    const steps = [];
    for (
      let each = /** @type {Element | null} */ (element);
      each && steps.length < most.path;
      each = each.parentElement
    ) {
      const { localName } = each;
      const same = [...(each.parentNode?.childNodes ?? [])].filter(
        (node) => node instanceof Element && node.localName === localName,
      );
      steps.unshift(`${CSS.escape(localName)}:nth-of-type(${same.indexOf(each) + 1})`);
    }
    return steps.join(" > ");
  };

  /** Selectors that only this field has in its frame, the most lasting first. @type {(field: Field, scopes: (Document | ShadowRoot | Element)[]) => string[]} */
  const selectorsOf = (field, scopes) => {
    const tag = field.localName;
    const by = (/** @type {string} */ name) => {
      const value = field.getAttribute(name);
      return value ? [`${tag}[${name}="${CSS.escape(value)}"]`] : [];
    };
    const all = [...by("id"), ...by("name"), ...by("autocomplete"), ...by("type"), pathOf(field)];
    return all.filter((selector) => {
      const found = scopes.flatMap((scope) => [...queryAll(scope, selector)]);
      return found.length === 1 && found[0] === field;
    });
  };

  /** @type {(element: Element, groups: unknown[]) => number} */
  const groupOf = (element, groups) => {
    const group = element.closest(grouping) ?? element.getRootNode();
    return groups.includes(group) ? groups.indexOf(group) : groups.push(group) - 1;
  };

  /** @type {(field: Field, scopes: (Document | ShadowRoot | Element)[], groups: unknown[]) => object} */
  const describeField = (field, scopes, groups) => ({
    selectors: selectorsOf(field, scopes),
    tag: field.localName,
    type: field.type,
    name: line(field.getAttribute("name")),
    id: line(field.getAttribute("id")),
    autocomplete: line(field.getAttribute("autocomplete")).toLowerCase(),
    inputMode: line(field.getAttribute("inputmode")),
    label: labelOf(field),
    maxLength: field instanceof HTMLInputElement ? field.maxLength : -1,
    isRequired: field.required || field.getAttribute("aria-required") === "true",
    isEmpty: field.value === "",
    group: groupOf(field, groups),
  });

  /** @param {HTMLElement} element */
  const kindOf = (element) => {
    const role = element.getAttribute("role");
    if (element instanceof HTMLInputElement && ["radio", "checkbox"].includes(element.type)) return element.type;
    if (role === "radio") return "radio";
    if (element instanceof HTMLButtonElement || element instanceof HTMLInputElement)
      return ["submit", "image"].includes(element.type) ? "submit" : "button";
    return element.localName === "a" && role !== "button" ? "link" : "button";
  };

  /** @param {HTMLElement} element */
  const wordsOf = (element) => {
    if (element instanceof HTMLInputElement)
      return ["radio", "checkbox"].includes(element.type) ? labelOf(element) : line(element.value || element.alt);
    return line(element.innerText || element.getAttribute("aria-label") || element.title || element.textContent);
  };

  /** @type {(element: HTMLElement, groups: unknown[]) => object} */
  const describePressable = (element, groups) => ({
    kind: kindOf(element),
    text: wordsOf(element),
    isDisabled: element.matches(":disabled, [aria-disabled=true]"),
    isChecked: element.matches(":checked, [aria-checked=true]"),
    group: groupOf(element, groups),
  });

  /** @param {Element} element */
  const describeEmbed = (element) => {
    const { width, height } = element.getBoundingClientRect();
    const what = ["src", "class", "id", "title"].map((name) => element.getAttribute(name) ?? "").join(" ");
    return { what: line(what), width: Math.round(width), height: Math.round(height) };
  };

  /** @param {(Document | ShadowRoot | Element)[]} scopes */
  const textIn = (scopes) =>
    scopes
      .flatMap((scope) => {
        if (scope instanceof Document) return [...queryAll(scope, "body")];
        return scope instanceof ShadowRoot ? [...scope.children] : [];
      })
      .flatMap((element) => (element instanceof HTMLElement ? [element.innerText] : []))
      .join("\n")
      .slice(0, most.text)
      .toWellFormed();

  const survey = () => {
    const scopes = withShadowRoots(document);
    /** @type {unknown[]} */
    const groups = [];
    const all = (/** @type {string} */ selector) => [
      ...new Set(scopes.flatMap((scope) => [...queryAll(scope, selector)])),
    ];
    fields = /** @type {Field[]} */ (all("input, textarea, select")).filter(isEditable).slice(0, most.fields);
    pressables = /** @type {HTMLElement[]} */ (all(pressed))
      .filter((element) => element instanceof HTMLElement && isVisible(element) && !isInert(element))
      .slice(0, most.pressables);
    return {
      url: location.href.slice(0, 2048),
      origin,
      isLoading: document.readyState === "loading",
      isBusy: all(busy).some(isVisible),
      text: textIn(scopes),
      fields: fields.map((field) => describeField(field, scopes, groups)),
      pressables: pressables.map((element) => describePressable(element, groups)),
      embeds: all(embedded).filter(isVisible).slice(0, most.embeds).map(describeEmbed),
    };
  };

  /** Presses what the last survey has at this place; false when it is gone. @param {number} index */
  const press = (index) => {
    const element = pressables[index];
    if (!element?.isConnected || !isVisible(element) || element.matches(":disabled")) return false;
    element.scrollIntoView({ block: "center" });
    element.click();
    return true;
  };

  /** Submits the form of a field, which has no button: as the Enter key does. @param {number} index */
  const submit = (index) => {
    const field = fields[index];
    if (!field?.isConnected) return false;
    const about = { key: "Enter", code: "Enter", keyCode: 13, bubbles: true, cancelable: true, composed: true };
    const isTaken = !field.dispatchEvent(new KeyboardEvent("keydown", about));
    const form = field.closest("form");
    if (!isTaken && form) Reflect.apply(HTMLFormElement.prototype.requestSubmit, form, []);
    return true;
  };

  /** @param {Helpers} helpers */
  const make = (helpers) => {
    ({ queryAll, withShadowRoots, isEditable, isVisible, isInert } = helpers);
    return { survey, press, submit };
  };
  return make;
})();
