/** Extensions of a browser's setup, seen at work in its pages. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, readdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { markingExtension } from "../../../support/marking-extension.ts";
import { writeZip } from "../../../support/zip-writer.ts";

const refOf = (name: string, zip: Buffer) => ({
  id: name,
  name,
  sha256: createHash("sha256").update(zip).digest("hex"),
  bytes: zip.length,
});

let site: Server;
let siteUrl: string;
const agents = createTestAgents();
beforeAll(async () => {
  site = createServer((_, response) => response.setHeader("content-type", "text/html").end("<body>page</body>"));
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  site.closeAllConnections();
  site.close();
});

const marksOn = async (page: Page): Promise<unknown> => {
  await page.goto(siteUrl);
  return eventually("both marks", async () => {
    const marks = (await page.evaluate("({ ...document.body.dataset })")) as object;
    return Object.keys(marks).length === 2 && marks;
  });
};

/** Chromium's ids: the same at each start, since they come from the ids of the setup. */
const idOf = (id: string): string =>
  [...createHash("sha256").update(id).digest("hex").slice(0, 32)]
    .map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16)))
    .join("");
/** The id that each extension sees in the page that it has marked. */
const both = { first: idOf("first"), second: idOf("second") };
const archives = [markingExtension("first"), markingExtension("second")];
const setup = { extensions: archives.map((zip, index) => refOf(["first", "second"][index] ?? "", zip)) };

const resetAgent = async (agent: TestAgent, session: string, seq: number): Promise<void> => {
  await agent.release(session, seq, "reset");
  await agent.call("GET", "/reset");
};

// EXTENSION-3
describe.each([true, false])("headless: %s", (headless) => {
  test("content scripts and workers of all extensions work, in every context and after a reset", async () => {
    const agent = await agents.start({ headless }, { setup, archives });
    for (const seq of [1, 2]) {
      await agent.bind(`s${seq}`, seq);
      const browser = await agent.connect(`s${seq}`);
      expect(await marksOn(await browser.newPage())).toEqual(both);
      const context = await browser.createBrowserContext();
      expect(await marksOn(await context.newPage())).toEqual(both);
      await browser.disconnect();
      await resetAgent(agent, `s${seq}`, seq);
    }
  });
});

test("an archive that was changed on the disk is noticed at the reset, and the browser ends", async () => {
  const agent = await agents.start({ headless: true }, { setup, archives });
  await agent.bind("s", 1);
  const browser = await agent.connect("s");
  await browser.newPage();
  await browser.disconnect();
  const folder = join(agent.dir, "archives");
  await chmod(folder, 0o700);
  const [first = ""] = await readdir(folder);
  await chmod(join(folder, first), 0o600);
  await writeFile(join(folder, first), markingExtension("evil"));
  await agent.release("s", 1, "reset");
  await agent.exited;
  expect(agent.termination()).toMatchObject({ reason: "reset_failed", message: expect.stringContaining("digest") });
});

test("an extension that Chromium does not take ends the start, by name", async () => {
  const zip = writeZip([
    {
      name: "manifest.json",
      content: JSON.stringify({
        manifest_version: 3,
        name: "x",
        version: "1.0",
        content_scripts: [{ matches: ["nonsense"], js: ["a.js"] }],
      }),
    },
    { name: "a.js", content: "1" },
  ]);
  const agent = await agents.start(
    { headless: true },
    { setup: { extensions: [refOf("broken", zip)] }, archives: [zip], ready: false },
  );
  await agent.exited;
  expect(agent.termination()).toMatchObject({ reason: "setup_refused", message: expect.stringContaining("broken") });
});
