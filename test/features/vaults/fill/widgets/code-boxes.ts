import type { Widget } from "./widgets.ts";

const joined = 'boxes.map((box) => box.value).join("") === "123456"';
const boxes = (
  name: string,
  by: string,
  script: string,
  { attributes = "maxlength=1 inputmode=numeric", proof = joined, says = "completed" as Widget["says"] } = {},
): Widget => ({
  name,
  by,
  html: `<div>${`<input class=box ${attributes}>`.repeat(6)}</div><script>
    const boxes = [...document.querySelectorAll(".box")]; boxes[0].id = "f";
    const next = (box) => boxes[boxes.indexOf(box) + 1]?.focus();
    const spread = (text) => [...text].forEach((char, at) => { if (boxes[at]) boxes[at].value = char; });
    for (const box of boxes) { ${script} }
  </script>`,
  values: { "#f": "123456" },
  says,
  proof,
});

/** One field or six boxes for a one-time code; the selector means the first box. */
export const codeBoxes: Widget[] = [
  {
    name: "Code in one field",
    by: "`autocomplete=one-time-code`",
    html: "<input id=f maxlength=6 inputmode=numeric autocomplete=one-time-code>",
    values: { "#f": "012345" },
    says: "completed",
    proof: 'document.querySelector("#f").value === "012345"',
  },
  boxes(
    "Six boxes that go on at `input`",
    "`input` passes the focus on",
    "box.oninput = () => { if (box.value) next(box); };",
  ),
  boxes(
    "Six boxes that go on at `keyup`",
    "`keyup` passes the focus on",
    "box.onkeyup = (e) => { if (/^\\d$/.test(e.key) && box.value) next(box); };",
  ),
  boxes(
    "Six boxes that take keys themselves",
    "`keydown` cancels the key, sets the value and passes the focus on",
    "box.onkeydown = (e) => { if (/^\\d$/.test(e.key)) { e.preventDefault(); box.value = e.key; next(box); } };",
  ),
  boxes(
    "Six boxes that take a paste only",
    "`paste` spreads the code; typed text is dropped",
    'box.oninput = () => { box.value = ""; }; box.onpaste = (e) => { e.preventDefault(); spread(e.clipboardData.getData("text/plain")); };',
  ),
  boxes("Six boxes without a script", "`maxlength=1` alone", ""),
  boxes(
    "Six boxes without a length that go on at `input`",
    "`input` keeps the last digit and passes the focus on",
    "box.oninput = () => { box.value = box.value.slice(-1); if (box.value) next(box); };",
    { attributes: "inputmode=numeric" },
  ),
  boxes(
    "Six boxes of which the first spreads a whole code",
    "`input` of the first box",
    "box.oninput = () => { if (box.value.length > 1) spread(box.value); };",
    { attributes: "inputmode=numeric" },
  ),
  boxes(
    "Six boxes of numbers",
    "`type=number`, `input` keeps the last digit and passes the focus on",
    "box.oninput = () => { box.value = box.value.slice(-1); if (box.value) next(box); };",
    { attributes: "type=number" },
  ),
  boxes(
    "Six boxes that send themselves",
    "the last `input` disables all boxes",
    "box.oninput = () => { if (box.value) next(box); if (boxes.every((one) => one.value)) for (const one of boxes) one.disabled = true; };",
  ),
  boxes(
    "Six boxes that are emptied by a timer",
    "`input` of the last box empties all after 100 ms",
    'box.oninput = () => { if (box.value) next(box); if (boxes.every((one) => one.value)) setTimeout(() => { for (const one of boxes) one.value = ""; }, 100); };',
    { proof: "true", says: { failed: "execution_failed" } },
  ),
];
