/** Recent audit lines in the console, over the real service. */
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { RecentLine } from "../../../src/platform/audit/audit-line.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../../src/platform/redis/connection.ts";
import { auditLinesKey } from "../../../src/platform/redis/keys.ts";
import { eventually } from "../../support/eventually.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { allOf, expectWell, fill, goTo, openAs, press, untilSaid } from "./console-actions.ts";
import { openConsole, textOf, untilText } from "./console-page.ts";

let stack: LocalProject;
let viewers: ViewBrowser;
let page: Page;
let faults: string[];
beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
  ({ page, faults } = await openConsole(viewers, { url: stack.url, key: stack.organization_key, path: "/audit" }));
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const hostile = `<script>alert(1)</script> \u202egnp ${"x".repeat(200)}`;

type Key = { id: string; key: string };

const keyNamed = async (name: string): Promise<Key> =>
  (await stack.call("POST", "/org/api_keys", { name, project_id: stack.project })).json() as Promise<Key>;

const callAs = ({ key }: Key, method: string, path: string, body?: object): Promise<Response> =>
  stack.call(method, path, body, { authorization: `Bearer ${key}` });

/** The texts of the rows, cell by cell. */
const rowsOf = (of: Page): Promise<string[][]> =>
  of.$$eval("main tbody tr[data-index]", (rows) =>
    rows.map((row) => [...row.querySelectorAll("td")].map(({ innerText }) => innerText.trim())),
  );

const untilRows = (of: Page, what: string, isWanted: (rows: string[][]) => boolean): Promise<string[][]> =>
  eventually(what, async () => {
    const rows = await rowsOf(of);
    return isWanted(rows) && rows;
  });

test("what a key with a hostile name did is found from its page, and told in full", async () => {
  const key = await keyNamed(hostile);
  const { id: vault } = (await (await callAs(key, "POST", "/vaults", { name: "v1" })).json()) as Key;
  await callAs(key, "DELETE", `/vaults/${vault}`);
  await callAs(key, "DELETE", `/vaults/${newId()}`);
  await goTo(page, `/api-keys/${key.id}`);
  await press(page, "What it did");
  const rows = await untilRows(page, "its three calls", ({ length }) => length === 3);
  expect(rows.map(([, , what, result]) => `${what} ${result}`)).toEqual([
    expect.stringContaining("deleteVault ■ failed 404"),
    expect.stringContaining("deleteVault ● done 204"),
    expect.stringContaining("upsertVault ● done 20"),
  ]);
  expect(rows[0]?.[1]).toContain("<script>alert(1)</script> \\u{202e}gnp");
  await expectWell(page, "lines of a key with a hostile name");
  await fill(page, "Result", "done");
  await untilRows(page, "what was done", ({ length }) => length === 2);
  await page.locator("main tbody tr[data-index] td:last-child").click();
  await untilSaid(page, "Request id");
  await untilSaid(page, `/vaults/${vault}`);
  await expectWell(page, "one line");
  await press(page, "All of this verb");
  await untilRows(
    page,
    "the calls of this verb",
    (found) => found.length > 0 && found.every(([, , what]) => what === "deleteVault"),
  );
  expect(new URL(page.url()).search).toBe("?verb=deleteVault");
  await press(page, "Clear the filters");
  await untilRows(page, "all lines", (found) => found.some(([, , what]) => what === "createApiKey"));
  await fill(page, "Verb, such as deleteVault", "nothing");
  await untilSaid(page, "No recent line matches.");
  await expectWell(page, "no line");
  expect(await allOf(page)).not.toContain(key.key);
});

test("the pages of a project and of a session lead to what was done there", async () => {
  const { session_id } = await stack.kernel.browsers.create({ headless: true });
  await stack.kernel.browsers.deleteByID(session_id);
  await goTo(page, `/projects/${stack.project}`);
  await press(page, "Who did what");
  await untilRows(page, "lines of the project alone", (rows) => {
    const whats = rows.map(([, , what]) => what);
    return whats.includes("createBrowser") && !whats.includes("createProject");
  });
  await goTo(page, `/sessions/${session_id}?project=${stack.project}`);
  await press(page, "Who did what");
  const rows = await untilRows(page, "the two calls", ({ length }) => length === 2);
  expect(rows.map(([, , what]) => what)).toEqual(["deleteBrowser", "createBrowser"]);
  const link = await page.$eval("main tbody a[href*=sessions]", (each) => (each as unknown as { href: string }).href);
  expect(link).toContain(`/sessions/${session_id}?project=${stack.project}`);
});

test("older lines are on further pages; hostile texts are shown as texts, and counts say what is missing", async () => {
  const { id: project } = await stack.kernel.projects.create({ name: hostile });
  const redis: RedisConnection = connectRedis(stack.redis_url, createLogger("silent", "test"));
  try {
    await whenReady(redis, 10_000);
    const stamp = { stream: "audit", time: new Date().toISOString(), replica: "api-0", project } as const;
    const call = { ...stamp, address: "10.0.0.1", key_id: null, result: "done", status: 200 } as const;
    const lines: RecentLine[] = [
      ...Array.from({ length: 150 }, (_, index) => ({
        ...{ ...call, request_id: "same", verb: `verb${index}`, object: `/vaults/${index}` },
      })),
      { ...stamp, left_out: 12_345, since: stamp.time },
      { ...call, request_id: "same", verb: hostile, object: `/vaults/${hostile}`, session: hostile },
    ];
    for (const line of RecentLine.array().parse(lines))
      await redis.xadd(auditLinesKey(project), "*", "line", JSON.stringify(line));
  } finally {
    redis.disconnect();
  }
  await goTo(page, `/audit?of=${project}`);
  const [first, second] = await untilRows(page, "the latest lines", ({ length }) => length > 5);
  expect(first?.[2]).toContain("<script>alert(1)</script> \\u{202e}gnp");
  expect(second?.[2]).toBe("12345 lines left out");
  await expectWell(page, "hostile lines");
  await page.locator("main tbody tr[data-index] button").click();
  await untilSaid(page, "Object");
  await expectWell(page, "a hostile line");
  await press(page, "Close");
  await press(page, "Older");
  await untilText(page, /Older lines/);
  await untilRows(page, "older lines", ([top]) => top?.[2] === "verb51");
  await eventually("there is no older page", async () => !(await textOf(page)).includes("Older\n") || undefined);
  await press(page, "Latest");
  await untilRows(page, "the latest lines again", (rows) => rows[1]?.[2] === "12345 lines left out");
  expect(faults).toEqual([]);
});

test("a key without organization sees none of it", async () => {
  const other = await openAs(viewers, stack, { permissions: ["pools:read"], path: "/audit" });
  await untilSaid(other.page, "Your key lacks the permission organization.");
  const { session_id } = await stack.kernel.browsers.create({ headless: true });
  await goTo(other.page, `/sessions/${session_id}`);
  await untilSaid(other.page, "Its story needs the permission browsers:use.");
  expect(await textOf(other.page)).not.toContain("Who did what");
  expect(other.faults).toEqual([]);
  await other.page.close();
});
