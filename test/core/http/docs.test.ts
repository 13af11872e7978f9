import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { type Browser, launch } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../../src/cmd/features.ts";
import { mountDocs } from "../../../src/core/api/docs.ts";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";

let server: Server;
let base: string;
let browser: Browser | undefined;

beforeAll(async () => {
  const app = express();
  mountDocs(app, routes);
  server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await browser?.close();
  server.closeAllConnections();
  server.close();
});

const linksOf = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link as string);

test("every file of the page is served with its type and a policy that forbids other sources", async () => {
  const html = await (await fetch(`${base}/docs`)).text();
  const links = linksOf(html);
  expect(links.length).toBeGreaterThan(3);
  for (const link of links) {
    const response = await fetch(base + link);
    expect([link, response.status]).toEqual([link, 200]);
    const type = { js: "text/javascript", css: "text/css", png: "image/png" }[link.split(".").at(-1) ?? ""];
    expect(response.headers.get("content-type")).toContain(type);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self';");
    expect(response.headers.get("cache-control")).toBe(
      link.includes("swagger-ui-") ? "public, max-age=31536000, immutable" : "no-cache",
    );
    await response.arrayBuffer();
  }
});

test("nothing else of the package is served", async () => {
  const html = await (await fetch(`${base}/docs`)).text();
  const bundle = linksOf(html).find((link) => link.endsWith("bundle.js")) ?? "";
  for (const file of ["index.html", "package.json", "swagger-ui-bundle.js.map", "%2e%2e/package.json"])
    expect((await fetch(base + bundle.replace(/[^/]+$/, file))).status).toBe(404);
});

test("in Chromium the page shows the operations, obeys its policy and asks no other server", async () => {
  const executablePath = locatePrograms()["chromium-headless-shell"];
  if (!executablePath) throw new Error("chromium-headless-shell is missing; run `npm run setup`");
  browser = await launch({ executablePath, headless: "shell", args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage();
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(`${base}/docs`, { waitUntil: "load" });
  await page.waitForSelector("#operations-Browser_pools-acquireBrowser .opblock-summary-control");
  await page.click("#operations-Browser_pools-acquireBrowser .opblock-summary-control");
  await page.waitForSelector("#operations-Browser_pools-acquireBrowser .responses-table");
  expect(complaints).toEqual([]);
  expect(asked.filter((url) => !url.startsWith(base) && !url.startsWith("data:"))).toEqual([]);
  expect(asked).toContain(`${base}/openapi.json`);
});
