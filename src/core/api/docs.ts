/**
 * The documentation of the API: `/openapi.json`, and `/docs` with Swagger UI. The service serves all of its files
 * itself.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Express, Response } from "express";
import { openApiDocument } from "../http/openapi.ts";
import { styleSheet } from "../http/pages/style-sheet.ts";
import type { Route } from "../http/route.ts";

const packageFile = fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json"));
// Every package.json has a version.
const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string };

/** The files of Swagger UI that are served. Their URLs contain the version, so clients can cache them for ever. */
const packageFiles = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];
const packageUrl = `/docs/swagger-ui-${version}`;
const yearMs = 365 * 24 * 60 * 60 * 1000;

/** Allows only this service as a source; Swagger UI's style sheet has its icons as data: URLs. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Browserpool API</title>
    <link rel="icon" type="image/png" href="${packageUrl}/favicon-32x32.png">
    <link rel="stylesheet" href="${packageUrl}/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="${packageUrl}/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/**
 * Swagger UI has its own colours, for light pages alone: its classes get those of the tokens. It draws its icons in
 * black, which dark pages turn around.
 */
const style = `:root { --icons: none; }
@media (prefers-color-scheme: dark) { :root { --icons: invert(1); } }
.swagger-ui, .swagger-ui :is(.info, .info .title, .info li, .info p, .opblock-tag, .opblock-tag small, table thead tr :is(td, th),
  .parameter__name, .parameter__type, .response-col_status, .response-col_links, .tab li, .model, .model-title, label, h4, h5,
  .opblock-description-wrapper p, .opblock-summary-path, .opblock-summary-description, .opblock-section-header h4, .prop-type,
  .model-toggle, .markdown p, .renderedMarkdown p, .dialog-ux .modal-ux-header h3, .dialog-ux .modal-ux-content :is(p, h4))
  { color: var(--text); font-family: var(--sans); }
.swagger-ui :is(.opblock-section-header, .scheme-container, .dialog-ux .modal-ux, section.models .model-container,
  input, select, textarea, .btn) { background: var(--surface-raised); color: var(--text); box-shadow: none; }
.swagger-ui :is(.opblock, section.models, .opblock-tag) { border-color: var(--line); }
.swagger-ui :is(.info a, .opblock-tag a, .link, .markdown code, .renderedMarkdown code) { color: var(--accent); }
.swagger-ui :is(.arrow, .expand-operation svg, .model-toggle::after, .authorization__btn svg, .close-modal svg) { filter: var(--icons); }
`;

/** `validatorUrl: null`: the badge would send this service's address to a public validator. */
const startScript = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
});
`;

const secure = (response: Response): Response =>
  response.set({
    "Content-Security-Policy": contentSecurityPolicy,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
  });

const mountText = (app: Express, path: string, [type, text]: [type: string, text: string]): void => {
  app.get(path, (_request, response) => {
    secure(response).set("Cache-Control", "no-cache").type(type).send(text);
  });
};

/** Mounts `GET /openapi.json`, which needs no API key. */
export const mountOpenApi = (app: Express, routes: readonly Route[]): void =>
  mountText(app, "/openapi.json", ["json", JSON.stringify(openApiDocument(routes))]);

/** Mounts `GET /openapi.json` and `GET /docs`, which shows it. Neither needs an API key. */
export const mountDocs = (app: Express, routes: readonly Route[]): void => {
  mountOpenApi(app, routes);
  mountText(app, "/docs", ["html", page]);
  mountText(app, "/docs/page.css", ["css", styleSheet(style)]);
  mountText(app, "/docs/start.js", ["js", startScript]);
  for (const file of packageFiles)
    app.get(`${packageUrl}/${file}`, (_request, response) => {
      secure(response).sendFile(file, { root: dirname(packageFile), maxAge: yearMs, immutable: true });
    });
};
