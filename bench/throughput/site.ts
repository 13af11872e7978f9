/** A small site on this machine: two long articles that link to each other, and a form. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Site = { url: string; [Symbol.asyncDispose](): Promise<void> };

/** About the size of an encyclopedia's article, without its images. */
const paragraphs = 120;

const text =
  "A browser that is warm answers at once, and the page that it shows is the one that was asked for. ".repeat(4);

const articleOf = (name: string, other: string): string => `<!doctype html><meta charset="utf-8"><title>${name}</title>
<style>body{font:16px sans-serif;margin:2em auto;max-width:60em}table{float:right;border:1px solid}</style>
<h1 id="heading">${name}</h1><table>${"<tr><th>key<td>value".repeat(12)}</table><div id="content">
<p>See <a href="/${other}">${other}</a>.${`<p>${text}<a href="#heading">to the top</a>`.repeat(paragraphs)}</div>`;

const form = `<!doctype html><meta charset="utf-8"><title>form</title><input id="name"><input id="town">
<button id="send" onclick="sent.textContent = document.querySelector('#name').value">send</button><p id="sent"></p>`;

const pages = new Map([
  ["/first", articleOf("first", "second")],
  ["/second", articleOf("second", "first")],
  ["/form", form],
]);

/** Serves the site on a free port of loopback. */
export const startSite = async (): Promise<Site> => {
  const server = createServer(({ url = "" }, response) => {
    const page = pages.get(url);
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html" });
    response.end(page);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
};
