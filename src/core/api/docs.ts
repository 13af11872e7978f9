/**
 * The documentation of the API: `/openapi.json`, and `/docs` with Swagger UI. The service serves all of its files
 * itself.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Express, Response } from "express";
import { openApiDocument } from "../http/openapi.ts";
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

const style = "body { margin: 0; background: #fafafa; }\n";

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
  mountText(app, "/docs/page.css", ["css", style]);
  mountText(app, "/docs/start.js", ["js", startScript]);
  for (const file of packageFiles)
    app.get(`${packageUrl}/${file}`, (_request, response) => {
      secure(response).sendFile(file, { root: dirname(packageFile), maxAge: yearMs, immutable: true });
    });
};
