import type { Widget } from "./widgets.ts";

type Reaction = Pick<Widget, "name" | "by" | "says"> & {
  script: string;
  html?: string;
  values?: Widget["values"];
  proof?: string;
};

const page = ({
  name,
  by,
  says,
  script,
  html = "<input id=f>",
  values = { "#f": "ada" },
  proof,
}: Reaction): Widget => ({
  name,
  by,
  html: `${html}<button disabled>in</button><script>const f = document.querySelector("#f"), button = document.querySelector("button"); ${script}</script>`,
  values,
  says,
  ...(proof && { proof }),
});

/** Fields of pages that do something while they are filled, or afterwards. */
export const reactions: Widget[] = [
  page({
    name: "Field that is read-only until it has the focus",
    by: "`focus` removes `readonly`",
    html: "<input id=f readonly>",
    script: "f.onfocus = () => { f.readOnly = false; }; ",
    says: "completed",
    proof: 'f.value === "ada"',
  }),
  page({
    name: "Field that is read-only while it has no focus",
    by: "`focus` removes `readonly`, `blur` sets it",
    html: "<input id=f readonly>",
    script: 'f.onfocus = () => f.removeAttribute("readonly"); f.onblur = () => f.setAttribute("readonly", "");',
    says: "completed",
    proof: 'f.value === "ada"',
  }),
  page({
    name: "Button that waits for a key",
    by: "`keyup` enables it",
    script: "f.onkeyup = () => { button.disabled = f.value.length < 3; };",
    says: "completed",
    proof: "!button.disabled",
  }),
  page({
    name: "Button that waits for a key in the document",
    by: "`keydown` of the document counts keys",
    script: 'let n = 0; document.addEventListener("keydown", () => { n += 1; button.disabled = n < 3; });',
    says: "completed",
    proof: "!button.disabled",
  }),
  page({
    name: "Button that waits for keys of a long value",
    by: "`keyup` enables it",
    script: "f.onkeyup = () => { button.disabled = f.value.length < 100; };",
    values: { "#f": "a".repeat(120) },
    says: "completed",
    proof: "!button.disabled",
  }),
  page({
    name: "Field that is emptied at the blur",
    by: "`blur` empties it",
    script: 'f.onblur = () => { f.value = ""; };',
    says: { failed: "execution_failed" },
  }),
  page({
    name: "Field that is emptied by a delayed check",
    by: "`input` starts a timer of 150 ms",
    script: 'let t; f.oninput = () => { clearTimeout(t); t = setTimeout(() => { f.value = ""; }, 150); };',
    says: { failed: "execution_failed" },
  }),
  page({
    name: "Field that is emptied by a clock",
    by: "`setInterval`, without a listener",
    script: 'setInterval(() => { f.value = ""; }, 100);',
    says: { failed: "execution_failed" },
  }),
  page({
    name: "Form that is rendered anew without its values",
    by: "a timer replaces the field",
    html: "<div id=d><input id=f></div>",
    script: 'f.onblur = () => setTimeout(() => { d.innerHTML = "<input id=f>"; }, 100);',
    says: { failed: "target_changed" },
  }),
  page({
    name: "Form that is rendered anew with its values",
    by: "a timer replaces the field and copies its value",
    html: "<div id=d><input id=f></div>",
    script:
      'f.onblur = () => setTimeout(() => { const { value } = f; d.innerHTML = "<input id=f>"; d.firstChild.value = value; }, 100);',
    says: "completed",
    proof: 'd.firstChild.value === "ada"',
  }),
  page({
    name: "First step of a login",
    by: "`blur` removes the name and shows the password",
    html: "<div id=d><input id=f></div>",
    script: 'f.onblur = () => { window.user = f.value; d.innerHTML = "<input type=password id=p>"; };',
    says: "completed",
    proof: 'user === "ada"',
  }),
  page({
    name: "Second field that appears with the first",
    by: "a field that is not there yet",
    script: 'f.onblur = () => f.insertAdjacentHTML("afterend", "<input id=p>");',
    values: { "#f": "ada", "#p": "x" },
    says: { refused: "element_not_found" },
  }),
  page({
    name: "Second field that is enabled by a key in the first",
    by: "`disabled` until `keyup`",
    html: "<input id=f><input id=p disabled>",
    script: "f.onkeyup = () => { document.querySelector('#p').disabled = false; };",
    values: { "#f": "ada", "#p": "x" },
    says: { refused: "element_not_editable" },
  }),
  page({
    name: "Password with a switch that shows it",
    by: "`input` makes it a text field and back",
    html: "<input id=f type=password>",
    script: 'f.oninput = () => { f.type = "text"; f.type = "password"; };',
    values: { "#f": "s3cret" },
    says: "completed",
    proof: 'f.value === "s3cret"',
  }),
  page({
    name: "Field that passes the focus on",
    by: "`focus` gives it to another field",
    html: "<input id=f><input id=p>",
    script: "f.onfocus = () => document.querySelector('#p').focus();",
    says: { failed: "element_not_editable" },
    proof: "document.querySelector('#p').value === ''",
  }),
  page({
    name: "Field that loses the focus in the middle",
    by: "the second key gives the focus to a field of another kind",
    html: "<input id=f type=password><input id=p>",
    script: "f.onkeydown = () => { if (f.value) document.querySelector('#p').focus(); };",
    values: { "#f": "s3cret" },
    says: { failed: "execution_failed" },
    proof: "document.querySelector('#p').value === ''",
  }),
  page({
    name: "Field that suggests",
    by: "`input` opens a list after each key",
    html: "<input id=f role=combobox><ul id=d></ul>",
    script: "f.oninput = () => { d.innerHTML = '<li>' + f.value + '</li>'; };",
    says: "completed",
    proof: "d.textContent === 'ada'",
  }),
];
