/** What each permission shows and offers in the console, and what it does not: a table, over the real service. */
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../../src/cmd/features.ts";
import { type Permission, permissions } from "../../../src/core/model/permission.ts";
import { eventually } from "../../support/eventually.ts";
import { filledPool } from "../../support/filled-pool.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { follow, navigationOf, openAs, untilSaid } from "./console-actions.ts";
import { textOf } from "./console-page.ts";
import { createAnalysis, createSite } from "./known-site.ts";
import { makeBlocks, makeBy, makeLogin } from "./shown-objects.ts";

/**
 * `sees`: any of them shows the view. `always`: what it offers to everybody who sees it. `offers`: what it offers
 * besides, each to keys that have all of these permissions.
 */
type Row = {
  view: string;
  /** The entry of the navigation. */
  entry?: string;
  /** A word that says what is looked at, where a view has several rows. */
  what?: string;
  sees: Permission[];
  always?: string[];
  offers?: (readonly [needs: Permission[], ...actions: string[]])[];
};

const change = (...actions: string[]) => [["pools:write"] as Permission[], ...actions] as const;

/** Buttons, links that act, filters and parts to open, by their names. */
const table: Row[] = [
  { view: "/needs-you", entry: "Needs you", sees: ["pools:read", "vaults:read"] },
  { view: "/pools", entry: "Pools", sees: ["pools:read"], offers: [change("Make a pool")] },
  {
    ...{ view: "/pools/:id", sees: ["pools:read"], always: ["As code"] },
    offers: [
      change("Change", "Flush", "Discard idle browsers", "Delete"),
      [["browsers:use"], "Acquire a browser of this pool"],
    ],
  },
  {
    ...{ view: "/sessions", entry: "Sessions", sees: ["pools:read"], always: ["Which sessions", "Columns"] },
    offers: [[["browsers:use"], "Table or wall"]],
  },
  {
    ...{ view: "/sessions/:id", sees: ["pools:read"], always: ["As code"] },
    offers: [
      [["browsers:use"], "Take over", "Watch", "Give it more time", "End", "Record"],
      [["organization"], "Who did what"],
    ],
  },
  {
    ...{ view: "/sessions/:id", what: "with a vault", sees: ["pools:read"], always: ["As code"] },
    offers: [
      [["browsers:use"], "End"],
      [["browsers:use", "vaults:fill"], "Take over", "Watch", "Give it more time", "Record"],
      [["organization"], "Who did what"],
    ],
  },
  {
    ...{ view: "/sessions/:id", what: "that has ended", sees: ["pools:read"], always: ["As code"] },
    offers: [[["organization"], "Who did what"]],
  },
  { view: "/vaults", entry: "Vaults", sees: ["vaults:read"], offers: [[["vaults:write"], "Make a vault"]] },
  {
    ...{ view: "/vaults/:id", sees: ["vaults:read"], always: ["As code"] },
    offers: [[["vaults:write"], "Put in an item", "Delete"]],
  },
  {
    ...{ view: "/vaults/:id/items/:key", sees: ["vaults:read"], always: ["As code"] },
    offers: [
      [["vaults:fill"], "Fill into a session"],
      [["vaults:write"], "Delete"],
    ],
  },
  { view: "/logins", entry: "Logins", sees: ["vaults:read"], offers: [[["credentials:write"], "Make a login"]] },
  {
    ...{ view: "/logins/:id", sees: ["vaults:read"], always: ["As code"] },
    offers: [[["credentials:write"], "Begin a login", "Change", "Delete"]],
  },
  {
    ...{ view: "/credentials", entry: "Credentials", sees: ["vaults:read"] },
    offers: [[["credentials:write"], "Make a credential"]],
  },
  {
    ...{ view: "/credentials/:id", sees: ["vaults:read"], always: ["As code"] },
    offers: [
      [["credentials:write"], "Change", "Delete"],
      [["credentials:totp"], "Show the code"],
    ],
  },
  {
    ...{ view: "/sites", entry: "Sites", sees: ["registry:read"] },
    always: ["Look up", "What is listed", "Known of what"],
    offers: [[["registry:analyze"], "Have it tried out"]],
  },
  { view: "/sites/analyses/:id", sees: ["registry:read"], always: ["As code"] },
  {
    ...{ view: "/sites/:scope/:target", sees: ["registry:read"], always: ["As code", "An analysis"] },
    offers: [[["registry:analyze"], "Have it tried out"]],
  },
  { view: "/profiles", entry: "Profiles", sees: ["pools:read"], offers: [change("Make a profile")] },
  {
    ...{ view: "/profiles/:id", sees: ["pools:read"], always: ["As code"] },
    offers: [change("Rename", "Delete"), [["profiles:use"], "Download"]],
  },
  { view: "/proxies", entry: "Proxies", sees: ["pools:read"], offers: [change("Make a proxy")] },
  {
    ...{ view: "/proxies/:id", sees: ["pools:read"], always: ["As code"] },
    offers: [change("Check now", "Rename", "Delete")],
  },
  { view: "/extensions", entry: "Extensions", sees: ["pools:read"], offers: [change("Upload an extension")] },
  {
    ...{ view: "/extensions/:id", sees: ["pools:read"], always: ["As code", "Download"] },
    offers: [change("Delete")],
  },
  { view: "/telemetry", entry: "Telemetry", sees: ["pools:read"], offers: [change("Make a destination")] },
  {
    ...{ view: "/telemetry/:id", sees: ["pools:read"], always: ["As code"] },
    offers: [change("Change", "Delete")],
  },
  { view: "/api-keys", entry: "API keys", sees: ["organization"], always: ["Make a key"] },
  {
    ...{ view: "/api-keys/:id", sees: ["organization"] },
    always: ["As code", "What it did", "Rename", "Change what it may do", "Rotate", "Delete"],
  },
  { view: "/projects", entry: "Projects", sees: ["organization"], always: ["Make a project"] },
  {
    ...{ view: "/projects/:id", sees: ["organization"] },
    always: ["As code", "Who did what", "Rename", "Archive", "Delete", "Change the limits"],
    offers: [
      [["pools:read"], "Look at it"],
      [["vaults:read"], "Look at it"],
      [["registry:read"], "Look at it"],
    ],
  },
  { view: "/limits", entry: "Limits", sees: ["organization"], always: ["As code", "Change the default of projects"] },
  {
    ...{ view: "/audit", entry: "Audit", sees: ["organization"] },
    always: ["As code", "Project", "API key", "Result", "A line"],
  },
];

type Held = readonly Permission[];

const isSeen = ({ sees }: Row, held: Held): boolean => sees.some((each) => held.includes(each));

const offered = ({ always = [], offers = [] }: Row, held: Held): string[] => {
  const more = offers.filter(([needs]) => needs.every((each) => held.includes(each)));
  return [...new Set([...always, ...more.flatMap(([, ...actions]) => actions)])].sort();
};

const host = "www.permitted.example";

let stack: LocalProject;
let viewers: ViewBrowser;
/** The ids in the address of each row, one of each kind. */
let ids: Record<string, string[]>;

const makeSessions = async (vault: string): Promise<Record<string, string[]>> => {
  const common = { timeout_seconds: 3600, telemetry: { enabled: true } };
  const pool = await filledPool(stack.kernel, { name: "permitted", size: 1 });
  const held = await stack.kernel.browserPools.acquire(pool.id, common as object);
  const filled = await stack.kernel.browsers.create({ headless: true, vaults: [{ id: vault }], ...common } as object);
  const over = await stack.kernel.browsers.create({ headless: true, ...common } as object);
  await stack.kernel.browsers.deleteByID(over.session_id);
  return {
    ...{
      "/sessions/:id that has ended": [over.session_id],
      "/pools/:id": [pool.id],
      "/sessions/:id": [held.session_id],
      "/sessions/:id with a vault": [filled.session_id],
    },
  };
};

beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
  await createSite(stack.kube, host, "Scroll down.");
  const analysis = await createAnalysis(stack.kube, host, `https://${host}/`);
  const key = await makeBy(stack, "POST", "/org/api_keys", { name: "looked at", project_id: stack.project });
  const { credential, login, vault } = await makeLogin(stack);
  const { profile, proxy, extension, destination } = await makeBlocks(stack);
  ids = {
    ...(await makeSessions(vault)),
    ...{ "/vaults/:id": [vault], "/vaults/:id/items/:key": [vault, "shop"], "/logins/:id": [login] },
    ...{ "/credentials/:id": [credential], "/profiles/:id": [profile], "/proxies/:id": [proxy] },
    ...{ "/extensions/:id": [extension], "/telemetry/:id": [destination] },
    ...{ "/sites/analyses/:id": [analysis], "/sites/:scope/:target": ["host", host], "/api-keys/:id": [key.id] },
    "/projects/:id": [stack.project],
  };
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const nameOf = ({ view, what }: Row): string => (what === undefined ? view : `${view} ${what}`);

const addressOf = (row: Row): string => {
  const values = [...(ids[nameOf(row)] ?? [])];
  return row.view.replace(/:\w+/g, () => encodeURIComponent(values.shift() ?? "none"));
};

/** The row of the view at an address. */
const rowAt = (address: string): Row | undefined =>
  table.find(({ view }) => new RegExp(`^/console${view.replace(/:\w+/g, "[^/]+")}$`).test(address));

/** What a page asks for: what is under way, and what was refused. Streams have no end. */
const watchRequests = (page: Page) => {
  const underWay = new Set<unknown>();
  const refused = new Set<string>();
  page.on("request", (request) => {
    if (!/stream/.test(request.url())) underWay.add(request);
  });
  for (const event of ["requestfinished", "requestfailed"] as const)
    page.on(event, (request) => underWay.delete(request));
  page.on("response", (response) => {
    if (response.status() === 403) refused.add(new URL(response.url()).pathname);
  });
  return { underWay, refused };
};

/** All but a link to what is older: whether it is there depends on how much there is. */
const offeredOn = (page: Page): Promise<string[]> =>
  page.evaluate(`[...new Set([...document.querySelectorAll("main :is(button:not(.sort), a.button, select, summary)")]
    .filter((each) => each.checkVisibility() && each.textContent !== "Older")
    .map((each) => each.ariaLabel ?? (each.querySelector(".state") ? "An analysis" : each.closest("td") ? "A line" : each.textContent.trim())))]
    .sort()`) as Promise<string[]>;

const linksOn = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll("main a")].map(({ pathname }) => pathname)`) as Promise<string[]>;

/** Opens every view, and looks at what it shows and offers to a key that has these permissions. */
const lookAround = async (page: Page, held: Held): Promise<void> => {
  const { underWay, refused } = watchRequests(page);
  expect(await navigationOf(page)).toEqual(
    table.filter((row) => row.entry && isSeen(row, held)).map(({ entry }) => entry),
  );
  for (const row of table) {
    const name = nameOf(row);
    refused.clear();
    await follow(page, `${addressOf(row)}?project=${stack.project}`);
    if (!isSeen(row, held)) {
      await eventually(`${name} says what is missing`, async () =>
        (await textOf(page)).includes(`Your key lacks the permission ${row.sees.join(" or ")}.`),
      );
      expect(await offeredOn(page), name).toEqual([]);
      continue;
    }
    const wanted = offered(row, held);
    let found: string[] = [];
    const text = async (): Promise<string> => textOf(page).catch(() => "Loading …");
    await eventually(
      () => `${name} offers ${wanted}; it offered ${found}`,
      async () => {
        if (underWay.size > 0 || /Reading …|Loading …|lacks the permission/.test(await text())) return false;
        found = await offeredOn(page);
        return found.join() === wanted.join();
      },
    );
    expect(await page.$$("main [role=alert], main .stale"), name).toEqual([]);
    const astray = (await linksOn(page)).filter((address) => {
      const other = rowAt(address);
      return other !== undefined && !isSeen(other, held);
    });
    expect(astray, `${name}: links to views that the key may not see`).toEqual([]);
    expect([...refused], `${name}: what it asked for in vain`).toEqual([]);
  }
};

/** What the API answers to the page itself for each route that needs another permission. */
const refusalsIn = (page: Page, permission: Permission): Promise<{ name: string; answer: string }[]> => {
  const asked = routes
    .filter((route) => route.permission !== undefined && route.permission !== permission)
    .map(({ method, path, permission: needed }) => ({
      ...{ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, "none"), needed },
    }));
  return page.evaluate(`Promise.all(${JSON.stringify(asked)}.map(async ({ method, path, needed }) => {
    const headers = { "X-Browserpool-Console": "1", "Content-Type": "application/json" };
    const answer = await fetch(path, { method, headers, ...(method !== "GET" && { body: "{}" }) });
    const { code, message } = await answer.json();
    const isNamed = message.includes("lacks the permission " + needed) || (needed === "organization" && message.includes(needed));
    return { name: method + " " + path, answer: answer.status + " " + code + (isNamed ? "" : ": " + message) };
  }))`) as Promise<{ name: string; answer: string }[]>;
};

test("the table has every view", async () => {
  const file = join(import.meta.dirname, "../../../src/features/console/in-page/views.ts");
  const { views } = (await import(file)) as { views: { path: string }[] };
  expect(new Set(table.map(({ view }) => view))).toEqual(new Set(views.map(({ path }) => path)));
});

test.each(permissions)(
  "%s alone shows and offers what it may, and the API refuses all else",
  async (permission) => {
    const { page, faults } = await openAs(viewers, stack, { permissions: [permission], path: "/none" });
    await lookAround(page, [permission]);
    const refusals = await refusalsIn(page, permission);
    expect(refusals.length).toBeGreaterThan(50);
    expect(refusals.filter(({ answer }) => answer !== "403 forbidden")).toEqual([]);
    expect(faults).toEqual([]);
    await page.browserContext().close();
  },
  120_000,
);

const reading: Permission[] = ["pools:read", "vaults:read", "registry:read", "organization"];
const others = permissions.filter((each) => !reading.includes(each));

const besides: Permission[][] = [...others.map((each) => [each]), ["browsers:use", "vaults:fill"], others];

test.each(besides.map((more) => ({ more, name: more.join(" and ") })))(
  "who sees all is offered what $name allow, and no more",
  async ({ more }) => {
    const held = permissions.filter((each) => reading.includes(each) || more.includes(each));
    const path = `/none?project=${stack.project}`;
    const { page, faults } = await openAs(viewers, stack, { permissions: held, path });
    await lookAround(page, held);
    expect(faults).toEqual([]);
    await page.browserContext().close();
  },
  120_000,
);

test("a key that may see no view is told what it lacks", async () => {
  const { page } = await openAs(viewers, stack, { permissions: ["browsers:use"], path: "" });
  await untilSaid(page, "Your key may see no view. It needs one of the permissions pools:read, vaults:read,");
  await page.browserContext().close();
});
