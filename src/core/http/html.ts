/** HTML of our own pages. Only this file escapes texts from outside. */

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** A text as HTML shows it. */
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);

/** A piece of HTML that needs no further escaping. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | undefined | readonly (string | number | Html)[];

const render = (part: Part): string => {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(render).join("");
  return escaped(String(part));
};

/** Escapes all that is put in, but for pieces that are HTML already; lists are joined. */
export const html = (parts: TemplateStringsArray, ...values: Part[]): Html =>
  new Html(parts.map((part, index) => part + render(values[index])).join(""));

/**
 * A whole page of ours. `css`: the path of its style sheet. `head`, `body`: what is within `<head>` besides, and within
 * `<body>`.
 */
export const htmlPage = ({ title, css, head, body }: { title: string; css: string; head?: Html; body: Html }): string =>
  html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title}</title>
${head}    <link rel="stylesheet" href="${css}">
  </head>
  <body>
${body}  </body>
</html>
`.text;
