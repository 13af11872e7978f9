/**
 * What the page of the browser asks for: a choice, a value, files, a login. Each names the site that asks, in words of ours: the site has no say
 * in them but for the labels of a choice.
 */

/**
 * @typedef {import("./connection.js").Message} Message
 * @typedef {{ label: string, group: string, disabled: boolean }} Choice
 * @typedef {{ id: number, kind: string, site: string, options: Choice[], chosen: number, input: string, value: string, min: string, max: string,
 *   step: string, multiple: boolean, accept: string }} Ask
 */

/** As the agent takes them, bytes. */
const mostBytes = 25 * 1024 * 1024;
const mostFiles = 20;
const partBytes = 96 * 1024;

const inputTypes = ["date", "datetime-local", "month", "week", "time", "color"];

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @type {Record<string, string>} */
const titles = {
  choice: "Choose",
  value: "Choose a value",
  files: "This site asks for files of your machine",
  login: "This site asks for a login",
};

/** @param {string} name @param {Record<string, unknown>} properties @returns {any} */
const field = (name, properties) => Object.assign(document.createElement(name), properties);

/** A labelled field. @param {string} label @param {HTMLElement} of */
const labelled = (label, of) => {
  const made = document.createElement("label");
  made.append(label, of);
  return made;
};

/** @param {Ask} ask */
const choiceList = ({ options, chosen }) => {
  const groups = new Set(options.map(({ group }) => group).filter((group) => group !== ""));
  const rows = options.length + groups.size;
  const list = field("select", { size: Math.min(12, Math.max(2, rows)), ariaLabel: "Choices" });
  let group = "";
  /** @type {HTMLElement} */
  let into = list;
  for (const [index, { label, group: of, disabled }] of options.entries()) {
    if (of !== group) {
      into = of === "" ? list : field("optgroup", { label: of });
      if (into !== list) list.append(into);
      group = of;
    }
    into.append(field("option", { value: String(index), textContent: label, disabled, selected: index === chosen }));
  }
  return list;
};

/** The fields of an ask. @param {Ask} ask @returns {HTMLElement[]} */
const fieldsOf = (ask) => {
  if (ask.kind === "choice") return [choiceList(ask)];
  if (ask.kind === "files")
    return [labelled("Files", field("input", { type: "file", multiple: ask.multiple, accept: ask.accept }))];
  if (ask.kind === "login") {
    const [user, password] = ["text", "password"].map((type) =>
      field("input", { type, autocomplete: "off", maxLength: 1000 }),
    );
    return [labelled("User name", user), labelled("Password", password)];
  }
  const { value, min, max, step } = ask;
  const input = field("input", { type: inputTypes.includes(ask.input) ? ask.input : "text", min, max, step });
  input.value = value;
  return [labelled("Value", input)];
};

/** @param {Uint8Array} bytes */
const base64 = (bytes) => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
};

/** @param {number} ask @param {File[]} files @param {(message: Message) => void} send */
const sendFiles = async (ask, files, send) => {
  for (const [file, { name, size }] of files.entries())
    for (let at = 0; at === 0 || at < size; at += partBytes) {
      const part = files[file]?.slice(at, at + partBytes);
      const data = base64(new Uint8Array((await part?.arrayBuffer()) ?? new ArrayBuffer(0)));
      send({ type: "file", ask, file, name, data, is_last: file === files.length - 1 && at + partBytes >= size });
    }
};

/** @param {{ send(message: Message): void, say(text: string): void }} to */
export const createAskDialog = ({ send, say }) => {
  const dialog = /** @type {HTMLDialogElement} */ (byId("ask-dialog"));
  /** @type {Ask | undefined} */
  let asked;

  const give = (/** @type {number} */ ask, /** @type {File[]} */ files) => {
    const isTooMuch = files.length > mostFiles || files.reduce((sum, { size }) => sum + size, 0) > mostBytes;
    if (isTooMuch) say(`No more than ${mostFiles} files of ${mostBytes / 1024 / 1024} MiB together can be given.`);
    if (files.length === 0 || isTooMuch) return send({ type: "cancel", ask });
    void sendFiles(ask, files, send).catch(() => send({ type: "cancel", ask }));
  };
  const answer = (/** @type {Ask} */ { id: ask, kind }) => {
    /** @type {NodeListOf<HTMLInputElement>} */
    const fields = dialog.querySelectorAll("#ask-fields input, #ask-fields select");
    const [value = "", second = ""] = [...fields].map((each) => each.value);
    if (kind === "files") return give(ask, [...(fields[0]?.files ?? [])]);
    if (kind === "choice" && value !== "") return send({ type: "choose", ask, index: Number(value) });
    if (kind === "value") return send({ type: "set_value", ask, value });
    if (kind === "login") return send({ type: "login", ask, username: value, password: second });
    send({ type: "cancel", ask });
  };
  dialog.addEventListener("close", () => {
    if (asked && dialog.returnValue === "done") answer(asked);
    else if (asked) send({ type: "cancel", ask: asked.id });
    asked = undefined;
    byId("ask-fields").replaceChildren();
  });
  dialog.addEventListener("dblclick", (event) => {
    if (event.target instanceof HTMLOptionElement) dialog.close("done");
  });
  return {
    /** Null: there is none, or it is over. @param {Ask | null} ask */
    set(ask) {
      if (ask?.id === asked?.id) return;
      asked = undefined;
      if (dialog.open) dialog.close();
      if (!ask) return;
      asked = ask;
      dialog.returnValue = "";
      byId("ask-title").textContent = titles[ask.kind] ?? "The page asks";
      byId("ask-site").textContent = ask.site || "a page without an address";
      byId("ask-fields").replaceChildren(...fieldsOf(ask));
      dialog.showModal();
      /** @type {HTMLElement | null} */ (dialog.querySelector("#ask-fields input, #ask-fields select"))?.focus();
    },
  };
};
