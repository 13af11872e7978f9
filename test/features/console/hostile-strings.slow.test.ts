/** What strangers write is text in the console, wherever it is shown: a real browser, over the real service. */
import puppeteer, { type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { newId } from "../../../src/core/objects/new-id.ts";
import { filledPool } from "../../support/filled-pool.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { expectWell, follow, goTo, press, untilSaid } from "./console-actions.ts";
import { openConsole, untilText } from "./console-page.ts";
import { hostileStrings } from "./hostile-strings.ts";
import { createSite } from "./known-site.ts";

let stack: LocalProject;
let viewers: ViewBrowser;
let page: Page;
let faults: string[];
/** What a window of a person would show, and what the policy of the page had to stop. */
const alarms: string[] = [];

beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
  const path = `/none?project=${stack.project}`;
  ({ page, faults } = await openConsole(viewers, { url: stack.url, key: stack.organization_key, path }));
  page.on("dialog", (dialog) => {
    alarms.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.exposeFunction("trap", () => void alarms.push("a string ran"));
  await page.exposeFunction("alarm", (what: string) => void alarms.push(what));
  await page.evaluateOnNewDocument(`addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    alarm("policy " + violatedDirective + " " + blockedURI))`);
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

type Answer = { ok: boolean; status: number; text: string; id: string };

const send = async (method: string, path: string, body: object): Promise<Answer> => {
  const answer = await stack.call(method, path, body);
  const text = await answer.text();
  return { ok: answer.ok, status: answer.status, text, id: answer.ok ? JSON.parse(text).id : "" };
};

/** A field that people choose. `name`: what a refusal calls it. */
type Field = { what: string; name: string; send: (text: string) => Promise<Answer>; list: string };

/** Fields of any text, or almost; each string gets an object of its own. */
const free: Field[] = [
  {
    ...{ what: "the name and the login of a proxy", name: "name|username", list: "/proxies" },
    send: (text) =>
      send("POST", "/proxies", { type: "custom", name: text, config: { host: "127.0.0.1", port: 9, username: text } }),
  },
  {
    ...{ what: "the name of a key", name: "name", list: "/api-keys" },
    send: (text) => send("POST", "/org/api_keys", { name: text, project_id: stack.project }),
  },
  {
    ...{ what: "what a destination is for", name: "description", list: "/telemetry" },
    send: (text) =>
      send("POST", "/telemetry/destinations", {
        ...{ name: `d-${newId()}`, endpoint: "https://otel.example", description: text },
      }),
  },
  {
    ...{ what: "the provider of a login", name: "provider|path", list: "/logins" },
    send: (text) =>
      send("POST", "/auth/connections", {
        ...{ domain: "shop.example", profile_name: `p-${newId()}`, credential: { provider: text, path: text } },
      }),
  },
  {
    ...{ what: "the SSO provider of a credential", name: "sso_provider", list: "/credentials" },
    send: (text) =>
      send("POST", "/credentials", {
        ...{ name: `c-${newId()}`, domain: "shop.example", sso_provider: text, values: { username: "alice" } },
      }),
  },
];

const credentialWith = (more: object) =>
  send("POST", "/credentials", { name: `c-${newId()}`, domain: "shop.example", values: { a: "b" }, ...more });

/** Fields that are words: what is none is refused. */
const words: Omit<Field, "list">[] = [
  { what: "profile", name: "name", send: (name) => send("POST", "/profiles", { name }) },
  { what: "vault", name: "name", send: (name) => send("POST", "/vaults", { name }) },
  {
    what: "pool",
    name: "name",
    send: (name) => send("POST", "/browser_pools", { name, size: 1, fill_rate_per_minute: 0 }),
  },
  { what: "credential", name: "name", send: (name) => credentialWith({ name }) },
  { what: "domain", name: "domain", send: (domain) => credentialWith({ domain }) },
  { what: "origin", name: "allowed_origins", send: (origin) => credentialWith({ allowed_origins: [origin] }) },
  {
    what: "header",
    name: "headers",
    send: (header) =>
      send("POST", "/telemetry/destinations", {
        ...{ name: `d-${newId()}`, endpoint: "https://otel.example", headers: { [header]: "x" } },
      }),
  },
  {
    what: "endpoint",
    name: "endpoint",
    send: (endpoint) => send("POST", "/telemetry/destinations", { name: `d-${newId()}`, endpoint }),
  },
];

/** The text as a page may show it: each sign that nobody sees as its code. */
const shown = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (sign) =>
      /[\u200c\u200d]/.test(sign) ? sign : `\\u{${sign.codePointAt(0)?.toString(16)}}`,
    )
    .replace(/(\p{M}{6})\p{M}+/gu, "$1…");

/** Signs that turn what is around them, and letters that are read from the right. */
const fromTheRight = /[\u0590-\u08ff\u202a-\u202e\u2066-\u2069]/;

/** What is wrong with how strange texts stand on the page. */
const misplaced = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const { data, parentElement } = node;
      if (/[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2067\\ufeff]/.test(data)) found.push("unseen sign: " + data);
      if (/[\\u0590-\\u08ff]/.test(data.replace(/\\u2068[^\\u2069]*\\u2069/g, "")) && !parentElement.closest("bdi, option, pre")) found.push("not apart: " + data);
    }
    const strange = document.querySelectorAll("main :is(img, iframe, script, style, base, object, embed), [onerror], [onload], [onfocus]");
    found.push(...[...strange].map(({ outerHTML }) => outerHTML));
    found.push(...[...document.querySelectorAll("a")].map(({ href }) => href).filter((href) => !/^https?:/.test(href)));
    if ([document.documentElement, document.querySelector("main")].some((each) => each.scrollWidth > each.clientWidth)) found.push("wider than the page");
    return found;
  })()`) as Promise<string[]>;

const textContentOf = (page: Page): Promise<string> => page.$eval("main", ({ textContent }) => textContent ?? "");

/** Looks at the page as it is: narrow, then as wide and high as all rows need. */
const expectHarmless = async (what: string): Promise<void> => {
  await page.setViewport({ width: 320, height: 640 });
  expect(await misplaced(page), what).toEqual([]);
  await page.setViewport({ width: 1280, height: 3000 });
  expect(await misplaced(page), what).toEqual([]);
  expect([...alarms, ...faults], what).toEqual([]);
};

test.each(free)(
  "$what",
  async ({ what, name, send: put, list }) => {
    const made: { id: string; text: string }[] = [];
    for (const text of hostileStrings) {
      const answer = await put(text);
      if (answer.ok) made.push({ id: answer.id, text });
      else {
        expect([answer.status, answer.text], text).toEqual([400, expect.stringMatching(`${name}|surrogate`)]);
      }
    }
    expect(made.length, "strings that it takes").toBeGreaterThan(25);
    await goTo(page, `${list}?project=${stack.project}`);
    await page.setViewport({ width: 1280, height: 3000 });
    await page.waitForSelector(`tr[data-index="${made.length - 1}"]`);
    await expectHarmless(what);
    await expectWell(page, what);
    for (const [index, { id, text }] of made.entries()) {
      await follow(page, `${list}/${id}?project=${stack.project}`);
      await page.waitForFunction(`document.querySelector("main .facts")?.textContent.includes(${JSON.stringify(id)})`);
      // What the API keeps of a lone half of a sign is its own affair.
      if (!/\p{Cs}/u.test(text)) expect(await textContentOf(page)).toContain(shown(text.trim()));
      await expectHarmless(`${what}: ${text}`);
      if (index % 8 === 0 || fromTheRight.test(text)) {
        await press(page, "Delete");
        await page.waitForSelector("dialog[open]");
        await expectWell(page, `${what}, to be deleted: ${text}`);
        await expectHarmless(`${what}, to be deleted: ${text}`);
        await page.keyboard.press("Escape");
        await press(page, "As code");
        const code = await untilText(page, /:/, "dialog[open] pre");
        if (list === "/telemetry") expect(parse(code)).toMatchObject({ spec: { description: text } });
        await expectHarmless(`${what}, as code: ${text}`);
        await page.keyboard.press("Escape");
      }
    }
  },
  180_000,
);

test("fields that are words refuse what is none, by name", async () => {
  for (const { what, name, send: put } of words)
    for (const text of hostileStrings) {
      const answer = await put(text);
      if (!answer.ok)
        expect([answer.status, answer.text], `${what}: ${text}`).toEqual([
          400,
          expect.stringMatching(`${name}|surrogate`),
        ]);
      else expect(text, what).toMatch(/^[\w.-]+$|^\/\/evil/);
    }
});

test("a project, its tags and advice about sites", async () => {
  const { id } = await send("POST", "/org/projects", { name: "strange" });
  const pool = await filledPool(stack.kernel, { size: 1 });
  const session = await stack.kernel.browserPools.acquire(pool.id, { timeout_seconds: 3600 } as object);
  for (const [index, text] of hostileStrings.entries()) {
    const renamed = await send("PATCH", `/org/projects/${id}`, { name: text });
    const tagged = await send("PATCH", `/browsers/${session.session_id}`, {
      tags: { [text]: text, ok: text },
    });
    if (!renamed.ok) expect([renamed.status, renamed.text]).toEqual([400, expect.stringMatching("name|surrogate")]);
    if (!tagged.ok) expect([tagged.status, tagged.text], text).toEqual([400, expect.stringMatching("tags|surrogate")]);
    if (index % 4 !== 0 && !/[\u0590-\u08ff]/.test(text)) continue;
    for (const path of ["/projects", `/projects/${id}`, `/sessions/${session.session_id}`, "/sessions"]) {
      await goTo(page, `${path}?project=${stack.project}`);
      await untilSaid(page, path.includes("session") ? "Active" : "ctive");
      await expectHarmless(`${path}: ${text}`);
    }
  }
  const host = "www.strange.example";
  await createSite(
    stack.kube,
    host,
    hostileStrings
      .filter((text) => !/\p{Cs}|\0/u.test(text))
      .join(" ")
      .slice(0, 1500),
  );
  await goTo(page, `/sites/host/${host}`);
  await untilSaid(page, "Advice that nobody has verified");
  await expectHarmless("advice");
  await expectWell(page, "advice");
}, 180_000);

test("the pages, titles and console lines of a session", async () => {
  const pool = await filledPool(stack.kernel, { size: 1 });
  const telemetry = {
    browser: Object.fromEntries(["console", "page"].map((category) => [category, { enabled: true }])),
  };
  const session = await stack.kernel.browserPools.acquire(pool.id, { timeout_seconds: 3600, telemetry } as object);
  const holder = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url ?? "", defaultViewport: null });
  const [tab] = await holder.pages();
  await tab?.goto(`data:text/html,<title>x</title>${encodeURIComponent("<b>\u202e\u0645\u0631\u062d</b>")}`);
  await tab?.evaluate(`for (const text of ${JSON.stringify(hostileStrings)}) {
    document.title = text;
    console.log(text);
    console.error(text);
  } console.log("that was all")`);
  await goTo(page, `/sessions/${session.session_id}?project=${stack.project}`);
  await untilText(page, /that was all/);
  const said = await textContentOf(page);
  for (const text of hostileStrings) if (!/\p{Cs}/u.test(text)) expect(said).toContain(shown(text));
  await expectHarmless("a story");
  await expectWell(page, "a story");
  await holder.disconnect();
});

test("addresses that nobody has made break nothing", async () => {
  const broken = ["/pools/%ff", "/sites/%e0%a4%a/x", "/vaults/a/items/%", "/sessions/%00", "/api-keys/..%2f..%2forg"];
  const filters = ["query", "sort", "columns", "project", "as", "without", "status"];
  const addresses = [
    ...broken,
    ...hostileStrings
      .filter((text) => !/\p{Cs}/u.test(text))
      .map((text, index) => `/sessions?${new URLSearchParams({ [filters[index % filters.length] ?? ""]: text })}`),
  ];
  for (const address of addresses) {
    await follow(page, address);
    await page.waitForSelector("main h1");
    await expectHarmless(address);
  }
}, 120_000);
