/**
 * The site of the prompts: over HTTP, and over HTTPS with a certificate that nobody signed, which asks for one of the
 * client.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { testCertificates } from "../../../support/test-certificates.ts";

const fields = `<input type=file><input type=date><input type=color><input type=password><input list=l><datalist id=l><option>a<option>b</datalist>
  <select><option>a<option>b<option>c</select>`;

/** `load`: what becomes of a frame with that address. Each mouse button that goes down counts: the page takes input. */
const script = `
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const field = (type) => document.querySelector(type === "select" ? "select" : type === "list" ? "[list]" : "[type=" + type + "]");
  const load = (src) => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.onload = () => done("loaded");
    document.body.append(frame);
    frame.src = src;
    setTimeout(() => done("not loaded"), 1500);
  });
  window.pressed = 0;
  addEventListener("mousedown", () => { window.pressed += 1; });
`;

const page = (body: string): string => `<!doctype html><title>site</title><script>${script}</script><body>${body}`;

const pdf = (action: string): string =>
  `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R${action}>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF`;

type Answer = { status?: number; headers?: Record<string, string>; body: string };

const html = { "content-type": "text/html" };
const file = (name: string): Answer => ({
  headers: { "content-type": "application/octet-stream", "content-disposition": `attachment; filename=${name}` },
  body: "MZ",
});

const answers: Record<string, (request: IncomingMessage) => Answer> = {
  "/": () => ({ headers: html, body: page(fields) }),
  "/framed": () => ({ headers: html, body: page(`<iframe src="/"></iframe>`) }),
  "/login": ({ headers }) =>
    headers.authorization
      ? { headers: html, body: page(`logged in by ${headers.authorization}`) }
      : { status: 401, headers: { ...html, "www-authenticate": `Basic realm="site"` }, body: page("401") },
  "/posts": ({ method }) => ({ headers: html, body: page(`<form method=post></form>${method}`) }),
  "/form": () => ({
    headers: html,
    body: page(`<form action="/posts" method=post><input name=user value=ann autocomplete=username>${fields}</form>`),
  }),
  "/french": () => ({
    headers: { ...html, "content-language": "fr" },
    body: `<html lang=fr>${page(`<p>${"Bonjour tout le monde, ceci est une page en français. ".repeat(40)}`)}`,
  }),
  "/file.pdf": () => ({ headers: { "content-type": "application/pdf" }, body: pdf("") }),
  "/printing.pdf": () => ({
    headers: { "content-type": "application/pdf" },
    body: pdf("/OpenAction<</Type/Action/S/Named/N/Print>>"),
  }),
  "/file.bin": () => file("file.bin"),
  "/file.exe": () => file("file.exe"),
  "/certificate": () => ({ headers: html, body: page("certificate asked for") }),
};

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const path = (request.url ?? "").split("?")[0] ?? "";
  const { status = 200, headers = {}, body } = answers[path]?.(request) ?? { status: 404, body: "" };
  response.writeHead(status, headers).end(body);
};

export type PromptSite = { url: string; secureUrl: string; close(): void };

export const startPromptSite = async (): Promise<PromptSite> => {
  const plain = createServer(answer);
  const { authority, certificate, key } = testCertificates();
  const secure = createSecureServer(
    { cert: certificate, key, ca: authority, requestCert: true, rejectUnauthorized: false },
    answer,
  );
  const portOf = async (server: Server): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };
  return {
    url: `http://localhost:${await portOf(plain)}`,
    secureUrl: `https://localhost:${await portOf(secure)}`,
    close() {
      for (const server of [plain, secure]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
};
