/** Extensions that a holder loads into its browser: at work in its pages, and gone with its lease. */
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { sessionHeader } from "../../../../src/core/protocol/agent-api.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { type Answer, createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { changeBrowser, refOf, sendArchive } from "../../../support/change-agent.ts";
import { eventually } from "../../../support/eventually.ts";
import { markingExtension } from "../../../support/marking-extension.ts";
import { profileThatVisited } from "../../../support/profile-archive.ts";
import { writeZip } from "../../../support/zip-writer.ts";

let site: Server;
let siteUrl: string;
const agents = createTestAgents();
beforeAll(async () => {
  site = createServer((_, response) => response.setHeader("content-type", "text/html").end("<body>page</body>"));
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
});
afterEach(() => agents[Symbol.asyncDispose]());
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

const formOf = (entries: readonly (readonly [string, Buffer])[]): FormData => {
  const form = new FormData();
  for (const [index, [name, zip]] of entries.entries()) {
    form.append(`extensions[${index}][name]`, name);
    form.append(`extensions[${index}][zip_file]`, new Blob([new Uint8Array(zip)]), `${name}.zip`);
  }
  return form;
};

/** Loads extensions for the lease `s{seq}`, as the API does. */
const load = async (agent: TestAgent, seq: number, entries: readonly (readonly [string, Buffer])[] | FormData) => {
  const token = createAgentTokens(agent.privateKey).tokenFor(agent.podUid);
  const response = await fetch(`${agent.baseUrl}/calls/extensions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, [sessionHeader]: `s${seq}` },
    body: entries instanceof FormData ? entries : formOf(entries),
  });
  return { status: response.status, body: await response.json() } as Answer;
};

const marking = (...names: string[]) => names.map((name) => [name, markingExtension(name)] as const);

const marksOn = (page: Page): Promise<string[]> =>
  page.evaluate("Object.keys({ ...document.body.dataset })") as Promise<string[]>;

/** The marks that a new page gets; `count`: how many are waited for. */
const newMarks = async (agent: TestAgent, seq: number, count: number): Promise<string[]> => {
  const browser = await agent.connect(`s${seq}`);
  const page = await browser.newPage();
  await page.goto(siteUrl);
  const marks = await eventually(`${count} marks`, async () => {
    const found = await marksOn(page);
    return found.length >= count && found;
  });
  await browser.disconnect();
  return marks.toSorted();
};

const filesIn = (agent: TestAgent): string[] => {
  const folder = join(agent.dir, "extensions-of-holder");
  return existsSync(folder) ? readdirSync(folder) : [];
};

/** One that only Chromium refuses. */
const insecure = writeZip([
  {
    name: "manifest.json",
    content: JSON.stringify({
      ...{ manifest_version: 3, name: "insecure", version: "1" },
      content_security_policy: { extension_pages: "script-src 'self' 'unsafe-eval'" },
    }),
  },
]);

// EXTENSION-17, EXTENSION-18
test.each(["keep", "reset"] as const)(
  "the shell starts anew for the first ones, further ones come into what runs, and the next holder has none; by %s",
  async (reuse) => {
    const agent = await agents.start({ headless: true });
    await agent.bind("s1", 1);
    const first = await agent.connect("s1");
    const cut = new Promise((resolve) => first.once("disconnected", resolve));
    expect(await load(agent, 1, marking("one", "two"))).toMatchObject({ status: 200 });
    await cut;
    expect(await newMarks(agent, 1, 2)).toEqual(["one", "two"]);
    const second = await agent.connect("s1");
    const page = await second.newPage();
    await page.goto(siteUrl);
    expect(await load(agent, 1, marking("three"))).toMatchObject({ status: 200 });
    expect(second.connected).toBe(true);
    expect(await newMarks(agent, 1, 3)).toEqual(["one", "three", "two"]);
    await second.disconnect();
    expect(filesIn(agent)).toHaveLength(3);

    await agent.release("s1", 1, reuse);
    await agent.call("GET", "/reset");
    expect(filesIn(agent)).toEqual([]);
    await agent.bind("s2", 2);
    expect(await newMarks(agent, 2, 0)).toEqual([]);
    // The names are free again.
    expect(await load(agent, 2, marking("one"))).toMatchObject({ status: 200 });
    expect(await newMarks(agent, 2, 1)).toEqual(["one"]);
  },
);

// EXTENSION-17
test("a headful browser keeps its pages, and one that starts anew for a profile has its extensions again", async () => {
  const archive = await profileThatVisited(siteUrl);
  const agent = await agents.start({ headless: false });
  await agent.bind("s1", 1);
  const browser = await agent.connect("s1");
  const [page] = await browser.pages();
  await page?.setContent("<title>still here</title>");
  expect(await load(agent, 1, marking("one"))).toMatchObject({ status: 200 });
  expect(await page?.title()).toBe("still here");
  expect(await newMarks(agent, 1, 1)).toEqual(["one"]);
  const wanted = { profile: { archive: refOf(archive) } };
  await changeBrowser(agent, 1, { ...wanted, apply: false });
  await sendArchive(agent, archive);
  expect(await changeBrowser(agent, 1, wanted)).toMatchObject({ status: 200 });
  expect(await newMarks(agent, 1, 1)).toEqual(["one"]);
});

// EXTENSION-19
test("what Chromium refuses is refused with its words, and nothing of the form is loaded", async () => {
  const agent = await agents.start({ headless: true });
  const refused = {
    status: 400,
    body: { code: "bad_request", message: expect.stringMatching(/^extensions: .* extension bad: .*Insecure CSP/) },
  };
  await agent.bind("s1", 1);
  // The shell had to start anew, and does so again as it was.
  expect(await load(agent, 1, [...marking("one"), ["bad", insecure]])).toMatchObject(refused);
  expect(await newMarks(agent, 1, 0)).toEqual([]);
  expect(filesIn(agent)).toEqual([]);
  expect(await load(agent, 1, marking("one"))).toMatchObject({ status: 200 });
  const browser = await agent.connect("s1");
  expect(await load(agent, 1, [...marking("two"), ["bad", insecure]])).toMatchObject(refused);
  expect(browser.connected).toBe(true);
  await browser.disconnect();
  expect(await newMarks(agent, 1, 1)).toEqual(["one"]);
  expect(filesIn(agent)).toHaveLength(1);
});

// EXTENSION-17, EXTENSION-19
test("a form is checked before anything is loaded, and leaves nothing when it is refused", async () => {
  const agent = await agents.start({ headless: true });
  await agent.bind("s1", 1);
  const browser = await agent.connect("s1");
  const [zip] = [markingExtension("one")];
  const many = Array.from({ length: 20 }, (_, index) => [`e${index}`, zip] as const);
  const withoutName = new FormData();
  withoutName.append("extensions[0][zip_file]", new Blob([new Uint8Array(zip)]), "one.zip");
  const cases: [Awaited<Parameters<typeof load>[2]>, number, RegExp][] = [
    [[["one", Buffer.from("no zip")]], 400, /^extensions: one: this is no zip archive/],
    [[...marking("one"), ["none", writeZip([{ name: "a", content: "x" }])]], 400, /^extensions: none: .*manifest.json/],
    [[["../one", zip]], 400, /^extensions: a name has up to 64/],
    [[...marking("one"), ["one", zip]], 409, /one is loaded already/],
    [[...many, ["more", zip]], 400, /^extensions: give 20 files at most/],
    [withoutName, 400, /^extensions: give each as extensions\[N\]\[zip_file\]/],
    [new FormData(), 400, /^(extensions: the form has none|body: it is no whole form)/],
  ];
  for (const [form, status, message] of cases) {
    const answer = await load(agent, 1, form);
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
  }
  expect(filesIn(agent)).toEqual([]);
  expect(browser.connected).toBe(true);
  expect(await load(agent, 1, many)).toMatchObject({ status: 200 });
  expect(await load(agent, 1, [["more", zip]])).toMatchObject({ status: 409 });
});

// EXTENSION-18
test("the end of the lease breaks a load off, and the next holder has nothing of it", async () => {
  const agent = await agents.start({ headless: true });
  await agent.bind("s1", 1);
  const browser = await agent.connect("s1");
  const cut = new Promise((resolve) => browser.once("disconnected", resolve));
  const asked = load(agent, 1, marking("one")).catch(() => "cut");
  await cut;
  await agent.release("s1", 1, "reset");
  expect(await asked).toBe("cut");
  await agent.call("GET", "/reset");
  await agent.bind("s2", 2);
  expect(await newMarks(agent, 2, 0)).toEqual([]);
  expect(filesIn(agent)).toEqual([]);
});
