/**
 * Pages that the judge is tried on, stored in files and visited in a real Chromium: title, text, markup and frames are
 * what it makes of them. A file is HTML under a comment with YAML that says what else a visit sees, and what the judge
 * should say.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, HTTPResponse, Page } from "puppeteer-core";
import { parse } from "yaml";
import { z } from "zod";
import { verdicts } from "../../src/features/sites/analyses/site-analysis.ts";
import { type Target, targetOf } from "../../src/features/sites/rules/target.ts";
import { maxSeenItems, maxSeenLine, maxSeenText, type Visit } from "../../src/features/sites/visit/visit.ts";
import { launchChromium } from "./plain-chromium.ts";
import { testCertificates } from "./test-certificates.ts";

const pagesFolder = new URL("../features/sites/pages/", import.meta.url);

/** As browsers write it, e.g. with letters outside of ASCII encoded. */
const url = z.url().transform((text) => new URL(text).href);

/**
 * The comment at the top of a file. `error`: no page came, and the file has no HTML. `target`: the URL that was asked
 * for.
 */
const Head = z.strictObject({
  about: z.string(),
  verdict: z.enum(verdicts),
  notes: z.array(z.string()).default([]),
  url: url.default("https://www.site.example/"),
  target: url.optional(),
  redirects: z.array(url).default([]),
  status: z.int().default(200),
  headers: z.record(z.string(), z.string()).default({}),
  error: z.string().optional(),
});

/** A stored page. `name`: e.g. `rules/ordinary.html`. */
export type StoredPage = z.infer<typeof Head> & { name: string; html: string };

const sentence =
  "The boats left the harbour before noon, and the market on the quay went on without them until the evening. ";

/** `{{words 300}}` and `{{links 20}}` stand for the text and the navigation of a larger page. */
const expand = (html: string): string =>
  html
    .replace(/\{\{words (\d+)\}\}/g, (_, count) => sentence.repeat(Math.ceil(Number(count) / 20)))
    .replace(/\{\{links (\d+)\}\}/g, (_, count) =>
      Array.from({ length: Number(count) }, (_unused, index) => `<a href="/topic-${index}">Topic ${index}</a> `).join(
        "",
      ),
    );

const readPage = (name: string): StoredPage => {
  const text = readFileSync(new URL(name, pagesFolder), "utf8");
  const [, head, html = ""] = /^<!--\n(.*?)\n-->\n?(.*)$/s.exec(text) ?? [];
  if (head === undefined) throw new Error(`${name} does not begin with a comment`);
  return { ...Head.parse(parse(head), { error: () => `${name} has a wrong head` }), name, html: expand(html) };
};

/** All pages of a folder, `rules` or `holdout`. */
export const storedPages = (folder: string): StoredPage[] =>
  readdirSync(new URL(folder, pagesFolder))
    .sort()
    .map((file) => readPage(`${folder}/${file}`));

/** The target that a page was asked for as. */
export const targetOfPage = ({ target, redirects, url }: StoredPage): Target => {
  const found = targetOf(target ?? redirects[0] ?? url);
  if (typeof found === "string") throw new Error(found);
  return found;
};

const pathOf = (request: IncomingMessage): string => `https://${request.headers.host}${request.url}`;

/** The header by which the server knows which page a tab is about. */
const pageHeader = "x-stored-page";

/** Serves all pages, each at its own URL to the tab that it is for; scripts and frames are empty. */
const serve = async (pages: readonly StoredPage[]) => {
  const byName = new Map(pages.map((page) => [page.name, page]));
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const page = byName.get(String(request.headers[pageHeader]));
    const url = pathOf(request);
    const hop = page?.redirects.indexOf(url) ?? -1;
    if (page && hop >= 0) {
      response.writeHead(302, { location: page.redirects[hop + 1] ?? page.url }).end();
    } else if (page && url === page.url) {
      response.writeHead(page.status, { "content-type": "text/html; charset=utf-8", ...page.headers }).end(page.html);
    } else {
      const isDocument = request.headers["sec-fetch-dest"] === "iframe";
      response.writeHead(200, { "content-type": isDocument ? "text/html" : "text/plain" }).end();
    }
  };
  const { certificate, key } = testCertificates();
  const server = createServer({ cert: certificate, key }, answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
};

const errorOf = (error: unknown): Visit["error"] => {
  const [code] = /ERR_\w+/.exec(String(error)) ?? [];
  if (code === undefined) throw error;
  return code as `ERR_${string}`;
};

const screenshot = (tab: Page): Promise<string> => tab.screenshot({ encoding: "base64", optimizeForSpeed: true });

/** Far fewer characters than a page with content shows: only then a screenshot can tell more. */
const fewCharacters = 200;

/** `blank`: what an empty page looks like. */
const visitPage = async (tab: Page, page: StoredPage, blank: string): Promise<Visit> => {
  let last: HTTPResponse | undefined;
  tab.on("response", (response) => {
    if (response.request().isNavigationRequest() && response.frame() === tab.mainFrame()) last = response;
  });
  await tab.setExtraHTTPHeaders({ [pageHeader]: page.name });
  const error = await tab.goto(page.redirects[0] ?? page.url).then(() => undefined, errorOf);
  const cut = (text: string): string => text.slice(0, maxSeenLine);
  const read = (code: string): Promise<string> =>
    tab.evaluate(`(${code} ?? "").slice(0, ${maxSeenText})`) as Promise<string>;
  const hasPage = error === undefined;
  const text = hasPage ? await read("document.body?.innerText") : "";
  return {
    status: last?.status(),
    headers: Object.fromEntries(Object.entries(last?.headers() ?? {}).map(([name, value]) => [name, cut(value)])),
    url: cut(hasPage ? tab.url() : page.url),
    redirects: page.redirects,
    title: hasPage ? cut(await tab.title()) : "",
    text,
    markup: hasPage ? await read("document.documentElement.outerHTML") : "",
    frames: tab
      .frames()
      .filter((frame) => frame !== tab.mainFrame())
      .map((frame) => cut(frame.url()))
      .slice(0, maxSeenItems),
    isBlank: hasPage && text.length < fewCharacters ? (await screenshot(tab)) === blank : undefined,
    error,
  };
};

/** What a visit sees that got no page. */
const failedVisit = ({ error, url, redirects }: StoredPage): Visit => ({
  status: undefined,
  headers: {},
  url,
  redirects,
  title: "",
  text: "",
  markup: "",
  frames: [],
  isBlank: undefined,
  error: error as Visit["error"],
});

/** One after the other: a tab behind another one draws nothing, so that its screenshot never comes. */
const visitAll = async (browser: Browser, pages: readonly StoredPage[]): Promise<Map<string, Visit>> => {
  const visits = new Map<string, Visit>();
  const empty = await browser.newPage();
  const blank = await screenshot(empty);
  await empty.close();
  for (const page of pages) {
    if (page.error !== undefined) {
      visits.set(page.name, failedVisit(page));
      continue;
    }
    const tab = await browser.newPage();
    visits.set(page.name, await visitPage(tab, page, blank));
    await tab.close();
  }
  return visits;
};

/** Visits pages in one Chromium in which every host name leads to a server of ours; by their names. */
export const visitStoredPages = async (pages: readonly StoredPage[]): Promise<Map<string, Visit>> => {
  const server = await serve(pages);
  const profile = mkdtempSync(join(tmpdir(), "browserpool-pages-"));
  try {
    const { port } = server.address() as AddressInfo;
    const browser = await launchChromium(profile, [
      `--host-resolver-rules=MAP * 127.0.0.1:${port}`,
      "--ignore-certificate-errors",
    ]);
    try {
      return await visitAll(browser, pages);
    } finally {
      await browser.close();
    }
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
};
