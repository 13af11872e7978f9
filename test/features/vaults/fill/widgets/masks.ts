import type { Widget } from "./widgets.ts";

type Masked = Pick<Widget, "name" | "by"> & {
  script: string;
  value: string;
  shows?: string;
  attributes?: string;
  failed?: string;
};

const masked = ({ name, by, script, value, shows, attributes = "", failed }: Masked): Widget => ({
  name,
  by,
  html: `<input id=f ${attributes}><script>const f = document.querySelector("#f"); ${script}</script>`,
  values: { "#f": value },
  says: failed ? { failed } : "completed",
  ...(shows !== undefined && { proof: `f.value === ${JSON.stringify(shows)}` }),
});
const onInput = (work: string): string =>
  `f.addEventListener("input", () => { const d = f.value.replace(/\\D/g, ""); ${work} });`;

/** Fields that change what is typed, or take only some of it. */
export const masks: Widget[] = [
  masked({
    name: "Card number",
    by: "`input` puts blanks between groups",
    script: onInput('f.value = d.replace(/(\\d{4})(?=\\d)/g, "$1 ");'),
    value: "4111111111111111",
    shows: "4111 1111 1111 1111",
  }),
  masked({
    name: "Telephone number in brackets",
    by: "`input` formats",
    script: onInput("f.value = '(' + d.slice(0, 3) + ') ' + d.slice(3, 6) + '-' + d.slice(6);"),
    value: "5551234567",
    shows: "(555) 123-4567",
    attributes: "type=tel",
  }),
  masked({
    name: "Telephone number that gets the country's code",
    by: "`input` puts `+1` first",
    script:
      'f.addEventListener("input", () => { let d = f.value.replace(/^\\+1/, "").replace(/\\D/g, ""); f.value = d ? "+1 (" + d.slice(0, 3) + ") " + d.slice(3, 6) + "-" + d.slice(6) : ""; });',
    value: "5551234567",
    shows: "+1 (555) 123-4567",
    attributes: "type=tel",
  }),
  masked({
    name: "Telephone number that loses its end to a second code",
    by: "`input` puts `+1` before a number with one",
    script: onInput("f.value = '+1 ' + d.slice(0, 10);"),
    value: "+15551234567",
    attributes: "type=tel",
    failed: "execution_failed",
  }),
  masked({
    name: "Date with strokes",
    by: "`input` formats; a text field",
    script: onInput('f.value = [d.slice(0, 2), d.slice(2, 4), d.slice(4, 8)].filter(Boolean).join("/");'),
    value: "31/01/2026",
    shows: "31/01/2026",
  }),
  masked({
    name: "Mask that takes keys itself",
    by: "`keydown` cancels the key and sets the value",
    script:
      'f.addEventListener("keydown", (e) => { if (e.key.length === 1) { e.preventDefault(); f.value += e.key.toUpperCase(); f.dispatchEvent(new Event("input", { bubbles: true })); } });',
    value: "abc",
    shows: "ABC",
  }),
  masked({
    name: "Mask that takes text itself",
    by: "`beforeinput` cancels the text and sets the value",
    script:
      'f.addEventListener("beforeinput", (e) => { e.preventDefault(); if (e.data) f.value += e.data.toUpperCase(); });',
    value: "abc",
    shows: "ABC",
  }),
  masked({
    name: "Capital letters",
    by: "`input` changes the case",
    script: 'f.addEventListener("input", () => { f.value = f.value.toUpperCase(); });',
    value: "abc",
    shows: "ABC",
  }),
  masked({
    name: "Field that refuses keys of letters",
    by: "`keypress` cancels them; the text goes in at once, as by a paste",
    script: 'f.addEventListener("keypress", (e) => { if (!/\\d/.test(e.key)) e.preventDefault(); });',
    value: "12ab",
    shows: "12ab",
  }),
  masked({
    name: "Password without signs",
    by: "`input` drops them",
    script: 'f.addEventListener("input", () => { f.value = f.value.replace(/\\W/g, ""); });',
    value: "pass-word",
    attributes: "type=password",
    failed: "execution_failed",
  }),
  masked({
    name: "E-mail address that is checked on blur",
    by: "`blur` empties a wrong one",
    script: 'f.addEventListener("blur", () => { if (!f.checkValidity()) f.value = ""; });',
    value: "ada",
    attributes: "type=email",
    failed: "execution_failed",
  }),
  masked({
    name: "E-mail address that passes the check on blur",
    by: "`blur` empties a wrong one",
    script: 'f.addEventListener("blur", () => { if (!f.checkValidity()) f.value = ""; });',
    value: "ada@shop.example",
    shows: "ada@shop.example",
    attributes: "type=email",
  }),
];
