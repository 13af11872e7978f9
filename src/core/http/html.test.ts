import { expect, test } from "vitest";
import { html } from "./html.ts";

test("every sign by which a text could leave its place is escaped, in lists and attributes too", () => {
  const text = `<b title="x" class='y'>&</b>`;
  const shown = "&lt;b title=&quot;x&quot; class=&#39;y&#39;&gt;&amp;&lt;/b&gt;";
  expect(html`<p title="${text}">${[text, 3]}</p>`.text).toBe(`<p title="${shown}">${shown}3</p>`);
});

test("what is HTML already stays, and what is undefined is nothing", () => {
  const item = (name: string) => html`<li>${name}</li>`;
  expect(html`<ul>${["a", "<"].map(item)}</ul>${undefined}`.text).toBe("<ul><li>a</li><li>&lt;</li></ul>");
});
