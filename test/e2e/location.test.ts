/** The locale and the time zone of a session, with the public API and in real browsers (BROWSER-33 to BROWSER-36). */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Kernel from "@onkernel/sdk";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { languages } from "../../src/core/model/settings/location.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { ownAddress } from "../support/wall/machine.ts";

let stack: LocalProject;
let site: Server;
let url: string;

/** A page that tells what its worker sees, and which languages the site was asked for. */
const serve = (request: IncomingMessage, response: ServerResponse): void => {
  response.setHeader("Content-Type", "text/html");
  response.end(`<p>${request.headers["accept-language"]}</p><iframe srcdoc="<p>"></iframe><script>
    const code = "const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();" +
      "postMessage([locale, timeZone, navigator.language, (1234.5).toLocaleString()])";
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = ({ data }) => (window.seenByWorker = data);
  </script>`);
};

beforeAll(async () => {
  stack = await startProject();
  site = createServer(serve);
  await new Promise<void>((resolve) => site.listen(0, resolve));
  url = `http://${ownAddress}:${(site.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  site?.closeAllConnections();
  site?.close();
  await stack?.[Symbol.asyncDispose]();
});

type Session = { session_id: string; cdp_ws_url: string; location?: object };

const send = async (method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> => {
  const response = await stack.call(method, path, body);
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
};

const call = async (method: string, path: string, body?: object): Promise<Session> => {
  const answer = await send(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body as Session;
};

/** What a new page of the session sees, its frame, its worker and its site. */
const seenIn = async ({ cdp_ws_url }: Session): Promise<unknown> => {
  await using browser = await puppeteer.connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
  const page = await browser.newPage();
  await page.goto(url);
  await page.waitForFunction("window.seenByWorker");
  // Text: the types of a page are not those of this file.
  return await page.evaluate(`(() => {
    const zoneIn = ({ Intl }) => Intl.DateTimeFormat().resolvedOptions().timeZone;
    return {
      asked: document.querySelector("p").textContent.split(",")[0],
      languages: navigator.languages,
      locale: Intl.DateTimeFormat().resolvedOptions().locale,
      zone: zoneIn(window),
      ofFrame: zoneIn(window[0]),
      number: (1234.5).toLocaleString(),
      winter: new Date(Date.UTC(2026, 0, 1)).getHours(),
      ofWorker: window.seenByWorker,
    };
  })()`);
};

const sees = (locale: string, zone: string, number: string, winter: number) => ({
  asked: locale,
  languages: [...new Set([locale, locale.split("-")[0]])],
  locale,
  zone,
  ofFrame: zone,
  number,
  winter,
  ofWorker: [locale, zone, locale, number],
});

// BROWSER-33, BROWSER-34, BROWSER-36
test.each([true, false])(
  "pages, workers and sites see the locale and the time zone, headless: %s",
  async (headless) => {
    const given = { locale: "de-DE", timezone: "Asia/Tokyo" };
    const session = await call("POST", "/browsers", { headless, location: given });
    expect(session.location).toEqual({ ...given, locale_source: "override", timezone_source: "override" });
    expect(await seenIn(session)).toEqual(sees("de-DE", "Asia/Tokyo", "1.234,5", 9));
    const changed = await call("PATCH", `/browsers/${session.session_id}`, {
      location: { locale: "fr-CA", timezone: null },
    });
    const after = { locale: "fr-CA", locale_source: "override", timezone: "UTC", timezone_source: "default" };
    expect(changed.location).toEqual(after);
    expect(await seenIn(session)).toEqual(sees("fr-CA", "UTC", "1\u00a0234,5", 0));
    expect((await call("GET", `/browsers/${session.session_id}`)).location).toEqual(after);
    await call("DELETE", `/browsers/${session.session_id}`);
  },
);

// BROWSER-35
test("the languages are those that Chromium formats in", async () => {
  const { session_id, ...session } = await call("POST", "/browsers", { headless: true });
  await using browser = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  const page = await browser.newPage();
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const two = letters.flatMap((one) => letters.map((other) => one + other));
  const all = [...two, ...two.flatMap((start) => letters.map((last) => start + last))];
  const known = await page.evaluate(
    (names) => names.filter((name) => Intl.NumberFormat.supportedLocalesOf(name)[0] === name),
    all,
  );
  expect(known).toEqual(expect.arrayContaining(languages));
  await call("DELETE", `/browsers/${session_id}`);
});

// BROWSER-28, BROWSER-34
test("a session of a pool gets another place, and the next holder has none of it", async () => {
  const kernel = new Kernel({ baseURL: stack.url, apiKey: stack.api_key, maxRetries: 0 });
  const { id: pool } = await filledPool(kernel);
  const first = await call("POST", `/browser_pools/${pool}/acquire`, { acquire_timeout_seconds: 60 });
  expect(first.location).toBeUndefined();
  const path = `/browsers/${first.session_id}`;
  // Each of two requests at the same time leaves the other's part.
  await Promise.all([
    call("PATCH", path, { location: { locale: "de-DE" } }),
    call("PATCH", path, { location: { timezone: "America/New_York" } }),
  ]);
  expect(await seenIn(first)).toEqual(sees("de-DE", "America/New_York", "1.234,5", 19));
  await call("POST", `/browser_pools/${pool}/release`, { session_id: first.session_id });
  const next = await call("POST", `/browser_pools/${pool}/acquire`, { acquire_timeout_seconds: 60 });
  expect(next.location).toBeUndefined();
  expect(await seenIn(next)).toMatchObject({ locale: "en-US" });
});

// BROWSER-35
test.each([
  [{ locale: "cy-GB" }, "location.locale"],
  [{ locale: "de_DE" }, "location.locale"],
  [{ locale: "de-DE", timezone: "Europe/Atlantis" }, "location.timezone"],
  [{ timezone: "../../etc/passwd" }, "location.timezone"],
])("%j is refused by name, in a request for a browser and in a change", async (location, path) => {
  const { session_id } = await call("POST", "/browsers", { headless: true, name: `n-${newId()}` });
  for (const [method, at] of [
    ["POST", "/browsers"],
    ["PATCH", `/browsers/${session_id}`],
  ] as const) {
    const { status, body } = await send(method, at, { location });
    expect([status, (body as { details: unknown }).details]).toEqual([400, [expect.objectContaining({ path })]]);
  }
  await call("DELETE", `/browsers/${session_id}`);
});
