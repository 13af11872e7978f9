/** Profiles, proxies, extensions and destinations of telemetry in the console, over the real service. */
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ElementHandle, Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { writeZip } from "../../support/zip-writer.ts";
import { manifest } from "../extensions/zip/extension-files.ts";
import {
  allOf,
  buttonsOf,
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
  ({ page, faults } = await openConsole(viewers, { url: stack.url, key: stack.api_key, path: "/profiles" }));
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const hostile = `<img src=x onerror=alert(1)> \u202egnp ${"x".repeat(200)}`;

test("profiles are made, renamed and deleted", async () => {
  await untilSaid(page, "There is no profile yet.");
  await press(page, "Make a profile");
  await fill(page, "Name", "p".repeat(255));
  await press(page, "Make the profile");
  await untilSaid(page, "Last used");
  await expectWell(page, "a profile with a long name");
  await press(page, "Rename");
  await fill(page, "Name", "alice");
  await press(page, "Rename");
  await untilSaid(page, "The profile has its new name.");
  expect(await readJson(stack, "/profiles")).toMatchObject([{ name: "alice" }]);
  await press(page, "Download");
  await untilSaid(page, "nothing is saved in the profile alice yet");
  await goTo(page, "/profiles/alice");
  await press(page, "Delete");
  await press(page, "Delete the profile");
  await untilSaid(page, "alice is deleted.");
  expect(await readJson(stack, "/profiles")).toEqual([]);
});

test("proxies are made with a password that the page forgets, checked, renamed and deleted", async () => {
  await goTo(page, "/proxies");
  await untilSaid(page, "There is no proxy yet.");
  await press(page, "Make a proxy");
  await fill(page, "Type", "residential");
  await untilSaid(page, "ZIP code");
  await fill(page, "Type", "custom");
  await fill(page, "Name", hostile);
  await fill(page, "Host", "127.0.0.1");
  await fill(page, "Port", "9");
  await fill(page, "Username", "bob");
  await fill(page, "Password", "not-for-the-page");
  await fill(page, "Hosts without the proxy", "*.example.com");
  await expectWell(page, "the form of a proxy");
  await press(page, "Make the proxy");
  await untilSaid(page, "Not checked");
  expect(await allOf(page)).not.toContain("not-for-the-page");
  await expectWell(page, "a proxy with a hostile name");
  const [proxy] = await readJson<{ id: string }[]>(stack, "/proxies");
  expect(proxy).toMatchObject({
    ...{ name: hostile, type: "custom", protocol: "http", bypass_hosts: ["*.example.com"] },
    config: { host: "127.0.0.1", port: 9, username: "bob", has_password: true },
  });
  await press(page, "Check now");
  await press(page, "Check");
  await untilSaid(page, "Does not answer");
  expect(await readJson(stack, `/proxies/${proxy?.id}`)).toMatchObject({ status: "unavailable" });
  await goTo(page, "/needs-you");
  await untilSaid(page, "Proxy: does not answer");
  await expectWell(page, "what needs a person");
  await goTo(page, "/proxies");
  await untilSaid(page, "Does not answer");
  await expectWell(page, "a list with a hostile name");
  await page.locator("main td a").click();
  await press(page, "Rename");
  await fill(page, "Name", "office");
  await press(page, "Rename");
  await untilSaid(page, "office");
  await press(page, "Delete");
  await press(page, "Delete the proxy");
  await untilSaid(page, "There is no proxy yet.");
  expect(await readJson(stack, "/proxies")).toEqual([]);
});

test("extensions are uploaded and deleted, and a file that is none is refused in words", async () => {
  const files = [join(tmpdir(), "none.zip"), join(tmpdir(), "helper.zip")] as const;
  await writeFile(files[0], "no zip file");
  await writeFile(files[1], writeZip([manifest({}), { name: "a.js", content: "console.log(1)" }]));
  await goTo(page, "/extensions");
  await untilSaid(page, "There is no extension yet.");
  await press(page, "Upload an extension");
  await fill(page, "Name", "helper");
  const input = (await page.waitForSelector("input[type=file]")) as ElementHandle<never>;
  await input.uploadFile(files[0]);
  await press(page, "Upload");
  await page.waitForSelector("dialog [role=alert]");
  await expectWell(page, "a refused upload");
  await input.uploadFile(files[1]);
  await press(page, "Upload");
  await untilSaid(page, "SHA-256 of the file");
  expect(await readJson(stack, "/extensions")).toMatchObject([{ name: "helper" }]);
  expect(await buttonsOf(page)).toContain("Download");
  await expectWell(page, "an extension");
  await press(page, "Delete");
  await press(page, "Delete the extension");
  await untilSaid(page, "helper is deleted.");
  expect(await readJson(stack, "/extensions")).toEqual([]);
  for (const file of files) await rm(file);
});

test("destinations of telemetry are made, changed and deleted, and show no header's value", async () => {
  await goTo(page, "/telemetry");
  await untilSaid(page, "There is no destination yet.");
  await press(page, "Make a destination");
  await fill(page, "Name", "otel");
  await fill(page, "Endpoint", "https://otel.example");
  await fill(page, "What it is for", "<b>all</b>");
  await press(page, "Add a header");
  await fill(page, "Name of header 1", "X-Key");
  await fill(page, "Value of header 1", "not-for-the-page");
  await press(page, "Make the destination");
  await untilSaid(page, "Nothing sent yet");
  expect(await allOf(page)).not.toContain("not-for-the-page");
  await expectWell(page, "a destination");
  expect(await readJson(stack, "/telemetry/destinations/otel")).toMatchObject({
    headers: { "X-Key": "" },
    description: "<b>all</b>",
  });
  await press(page, "Change");
  await fill(page, "What it is for", "");
  await fill(page, "Compression", "none");
  await tick(page, "X-Key");
  await press(page, "Save the change");
  await untilSaid(page, "The destination is changed.");
  const changed = await readJson(stack, "/telemetry/destinations/otel");
  expect(changed).toMatchObject({ headers: {}, compression: "none", endpoint: "https://otel.example" });
  expect(changed).not.toHaveProperty("description");
  await press(page, "Delete");
  await press(page, "Delete the destination");
  await untilSaid(page, "otel is deleted.");
  expect(await readJson(stack, "/telemetry/destinations")).toEqual([]);
  expect(faults).toEqual([]);
});

test("a key that may only read is offered nothing else", async () => {
  const narrow = await openAs(viewers, stack, { permissions: ["pools:read"], path: "/profiles" });
  await stack.kernel.profiles.create({ name: "carol" });
  expect(await navigationOf(narrow.page)).toEqual([
    ...["Needs you", "Pools", "Sessions", "Profiles", "Proxies", "Extensions", "Telemetry"],
  ]);
  for (const [view, word] of [
    ["/profiles/carol", "Last used"],
    ["/proxies", "There is no proxy yet."],
    ["/extensions", "There is no extension yet."],
    ["/telemetry", "There is no destination yet."],
  ] as const) {
    await goTo(narrow.page, view);
    await untilSaid(narrow.page, word);
    expect(await buttonsOf(narrow.page), view).toEqual(view.includes("carol") ? ["As code"] : []);
  }
  await narrow.page.close();
});
