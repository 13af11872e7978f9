/** What a real Chromium finds again of what another one has stored. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Browser, Page } from "puppeteer-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { profileFlags } from "../../../../src/features/profiles/agent/start-part.ts";
import { packProfile } from "../../../../src/features/profiles/archive/pack-profile.ts";
import { unpackProfile } from "../../../../src/features/profiles/archive/unpack-profile.ts";
import { createTestAgents } from "../../../support/agent-process.ts";
import { found, type LoginSite, logIn, loginSite } from "../../../support/login-site.ts";
import { launchChromium } from "../../../support/plain-chromium.ts";

let folder: string;
let site: LoginSite;
let browsers: Browser[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "profile-chromium-"));
  site = await loginSite();
  browsers = [];
});
afterEach(async () => {
  for (const browser of browsers) await browser.close().catch(() => undefined);
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

const start = async (profileDir: string, more: readonly string[] = []): Promise<{ browser: Browser; page: Page }> => {
  const browser = await launchChromium(profileDir, more);
  browsers.push(browser);
  return { browser, page: await browser.newPage() };
};

const signal = AbortSignal.timeout(60_000);

// PROFILE-20
test("a browser leaves a profile that the next one is logged in with", async () => {
  const first = await start(join(folder, "first"));
  await logIn(first.page, site.url);
  // Not by a signal: after SIGTERM, cookies and local storage of the last seconds were missing.
  await first.browser.close();
  await mkdir(join(folder, "second"), { mode: 0o700 });
  await unpackProfile(
    { archive: packProfile(join(folder, "first"), { signal }), folder: join(folder, "second") },
    { signal },
  );
  await rm(join(folder, "first"), { recursive: true });

  const second = await start(join(folder, "second"), profileFlags);
  expect((await second.browser.pages()).map((page) => page.url())).toEqual(["about:blank", "about:blank"]);
  expect(await found(second.page, site.url)).toEqual({
    cookies: ["day=1", "session=1"],
    stored: "locally",
    indexed: "indexed",
    answer: "the worker",
  });
});

/** The archive of a profile that is logged in. */
const loggedIn = async (): Promise<Buffer> => {
  const first = await start(join(folder, "first"));
  await logIn(first.page, site.url);
  await first.browser.close();
  return buffer(packProfile(join(folder, "first"), { signal }));
};

// PROFILE-4, PROFILE-20
test.each([true, false])(
  "an agent starts its browser with the profile, each time anew; headless: %s",
  async (headless) => {
    const archive = await loggedIn();
    const profile = { sha256: createHash("sha256").update(archive).digest("hex"), bytes: archive.length };
    await using agents = createTestAgents();
    const agent = await agents.start({ headless }, { setup: { profile }, archives: [archive] });
    for (const seq of [1, 2]) {
      await agent.bind(`s${seq}`, seq);
      const browser = await agent.connect(`s${seq}`);
      const page = await browser.newPage();
      expect(await found(page, site.url)).toMatchObject({
        cookies: ["day=1", "session=1"],
        stored: "locally",
        answer: "the worker",
      });
      // Nothing of this holder is there for the next one.
      await page.evaluate(`localStorage.setItem("stored", "by the first holder")`);
      await browser.disconnect();
      await agent.release(`s${seq}`, seq, "reset");
      await agent.call("GET", "/reset");
    }
  },
);

test("without the profile the site finds nothing of it", async () => {
  const { page } = await start(join(folder, "other"), profileFlags);
  expect(await found(page, site.url)).toEqual({ cookies: ["none"], stored: null, indexed: null, answer: "the server" });
});
