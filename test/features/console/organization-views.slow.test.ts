/** API keys, projects and limits in the console, over the real service. */
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import {
  allOf,
  expectWell,
  fill,
  goTo,
  navigationOf,
  openAs,
  press,
  readJson,
  tick,
  untilSaid,
} from "./console-actions.ts";
import { openConsole } from "./console-page.ts";

let stack: LocalProject;
let viewers: ViewBrowser;
let page: Page;
let faults: string[];
beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
  ({ page, faults } = await openConsole(viewers, { url: stack.url, key: stack.organization_key, path: "/projects" }));
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

type Key = { id: string; name: string; permissions: string[]; expires_at: string | null };

const keysNamed = (name: string): Promise<Key[]> => readJson(stack, `/org/api_keys?name=${encodeURIComponent(name)}`);

const hostile = `<script>alert(1)</script> \u202egnp ${"x".repeat(200)}`;

test("a project is made, limited, renamed, archived, made active again and deleted", async () => {
  await press(page, "Make a project");
  await fill(page, "Name", hostile);
  await press(page, "Make the project");
  await untilSaid(page, "No limit of its own");
  await expectWell(page, "a project with a hostile name");
  const id = decodeURIComponent(new URL(page.url()).pathname.split("/").at(-1) ?? "");
  expect(await readJson(stack, `/org/projects/${id}`)).toMatchObject({ name: hostile, status: "active" });
  await press(page, "Change the limits");
  await fill(page, "Browsers at once", "3");
  await press(page, "Save the limits");
  await untilSaid(page, "At most 3 browsers at once");
  expect(await readJson(stack, `/org/projects/${id}/limits`)).toMatchObject({ max_concurrent_sessions: 3 });
  await goTo(page, "/limits");
  await untilSaid(page, "of 3");
  await expectWell(page, "limits");
  await goTo(page, `/projects/${id}`);
  await press(page, "Rename");
  await fill(page, "Name", "moved");
  await press(page, "Rename");
  await untilSaid(page, "The project has its new name.");
  await press(page, "Archive");
  await press(page, "Archive the project");
  await untilSaid(page, "moved is archived.");
  expect(await readJson(stack, `/org/projects/${id}`)).toMatchObject({ name: "moved", status: "archived" });
  await press(page, "Make it active again");
  await untilSaid(page, "moved is active again.");
  await press(page, "Delete");
  await press(page, "Delete the project");
  await untilSaid(page, "moved is deleted.");
  expect((await stack.call("GET", `/org/projects/${id}`)).status).toBe(404);
});

test("a key is shown once, narrowed, rotated and deleted", async () => {
  await goTo(page, "/api-keys");
  await press(page, "Make a key");
  await fill(page, "Name", hostile);
  await fill(page, "Level", stack.project);
  await fill(page, "Days until it expires", "30");
  await tick(page, "It may do all of its level");
  await expectWell(page, "the form of a key");
  await tick(
    page,
    "pools:read read pools, proxies, telemetry destinations, sessions without their URLs, and the project",
  );
  await tick(page, "browsers:use acquire, start, change, release and end browsers, and see the URLs of sessions");
  await press(page, "Make the key");
  const shown = await page.waitForSelector("section code");
  const text = await shown?.evaluate(({ textContent }) => textContent ?? "");
  expect(text).toMatch(/^bp_/);
  await expectWell(page, "a new key");
  expect((await fetch(`${stack.url}/browser_pools`, { headers: { authorization: `Bearer ${text}` } })).status).toBe(
    200,
  );
  await press(page, "I have it");
  await eventually("the key is forgotten", async () => !(await allOf(page)).includes(text ?? "?"));
  const [made] = await keysNamed(hostile);
  expect(made).toMatchObject({ permissions: ["pools:read", "browsers:use"], expires_at: expect.any(String) });

  await goTo(page, `/api-keys/${made?.id}`);
  await untilSaid(page, "What it may do");
  await expectWell(page, "a key with a hostile name");
  await press(page, "Change what it may do");
  await tick(page, "browsers:use acquire, start, change, release and end browsers, and see the URLs of sessions");
  await press(page, "Save the permissions");
  await untilSaid(page, "The key has its new permissions.");
  expect(await readJson(stack, `/org/api_keys/${made?.id}`)).toMatchObject({ permissions: ["pools:read"] });
  await press(page, "Rename");
  await fill(page, "Name", "narrow one");
  await press(page, "Rename");
  await untilSaid(page, "The key has its new name.");
  await press(page, "Rotate");
  await fill(page, "Days for which the old key still works", "1");
  await press(page, "Rotate the key");
  await page.waitForSelector("section code");
  await press(page, "I have it");
  expect((await keysNamed("narrow one")).length).toBe(2);
  await press(page, "Delete");
  await press(page, "Delete the key");
  await untilSaid(page, "narrow one is deleted.");
  expect((await stack.call("GET", `/org/api_keys/${made?.id}`)).status).toBe(404);
});

test("the default of projects is changed, and taken away again", async () => {
  await goTo(page, "/limits");
  await press(page, "Change the default of projects");
  await fill(page, "Browsers at once in each project", "1000000");
  await press(page, "Save the default");
  await page.waitForSelector("dialog [role=alert]");
  await fill(page, "Browsers at once in each project", "7");
  await press(page, "Save the default");
  await untilSaid(page, "The default is changed.");
  expect(await readJson(stack, "/org/limits")).toMatchObject({ default_project_max_concurrent_sessions: 7 });
  await press(page, "Change the default of projects");
  await fill(page, "Browsers at once in each project", "");
  await press(page, "Save the default");
  await eventually("there is none", async () => {
    const limits = await readJson<{ default_project_max_concurrent_sessions: number | null }>(stack, "/org/limits");
    return limits.default_project_max_concurrent_sessions === null;
  });
  expect(faults).toEqual([]);
});

test("a key for the organization alone sees its pages; a key of a project sees none of them", async () => {
  const alone = await openAs(viewers, stack, { permissions: ["organization"], path: "/limits" });
  expect(await navigationOf(alone.page)).toEqual(["API keys", "Projects", "Limits", "Audit"]);
  await untilSaid(alone.page, "How many there are needs the permission pools:read.");
  await goTo(alone.page, `/projects/${stack.project}`);
  await untilSaid(alone.page, "Change the limits");
  await alone.page.close();
  const other = await openAs(viewers, stack, { permissions: ["registry:read"], path: "/api-keys" });
  expect(await navigationOf(other.page)).toEqual(["Sites"]);
  await untilSaid(other.page, "Your key lacks the permission organization.");
  await other.page.close();
});
