import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Frame, Page } from "puppeteer-core";
import { type BrowserConfig, sessionHeader } from "../../src/core/protocol/agent-api.ts";
import { createAgentTokens } from "../../src/core/protocol/agent-token.ts";
import { type FillRequest, fillPage } from "../../src/features/vaults/fill/fill-page.ts";
import type { Binding, FillResult } from "../../src/features/vaults/fill/fill-result.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { Sensitive } from "../../src/platform/base/sensitive.ts";
import { createTestAgents, type TestAgent } from "./agent-process.ts";
import { eventually } from "./eventually.ts";
import { type FillSite, startFillSite } from "./fill-site.ts";

/** Enough for every page that answers. */
const timeoutMs = 20_000;
const session = "fill-session";

/** What the pages of test/features/vaults/fill/pages keep in their globals. */
export type PageState = { events: string[]; state: Record<string, string> };

/** Selectors with the values to write, in order. */
export type Values = Record<string, string>;

export const bindingsOf = (values: Values): Binding[] =>
  Object.entries(values).map(([selector, value]) => ({ selector, value: () => new Sensitive(value) }));

export type FillParts = {
  agent: TestAgent;
  browser: Browser;
  site: FillSite;
  connect: FillRequest["connect"];
  /** Opens a new tab with `pages/<name>.html` and waits for all its frames. `rest`: what follows in the URL. */
  open(name: string, rest?: string): Promise<Page>;
  /** Fills a page by its URL; `more` overrides fields of the request. */
  fill(page: Page, values: Values, more?: Partial<FillRequest>): Promise<FillResult>;
  /** What a field of the page shows, in any frame or open shadow tree; fails when it does not exist. */
  shown(page: Page, selector: string): Promise<string>;
  /** The events that the page's frame with `pages/<name>.html` has recorded; fails when there is no such frame. */
  eventsIn(page: Page, name: string): Promise<string[]>;
  /** Closes all tabs but a blank one. */
  clear(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** What a field shows, in any frame or open shadow tree; undefined when it does not exist. */
const valueIn = async (frames: Frame[], selector: string): Promise<string | undefined> => {
  for (const frame of frames) {
    const field = await frame.$(`>>> ${selector}`);
    if (field) return field.evaluate((element) => (element as unknown as { value: string }).value);
  }
  return undefined;
};

/**
 * A program that starts Chromium with site isolation, as Chromium with a window has it. Without it the headless shell
 * renders frames of other sites in the page's process.
 */
const isolatingChromium = async (parts: AsyncDisposableStack): Promise<string> => {
  const chromium = locatePrograms()["chromium-headless-shell"];
  if (!chromium) throw new Error("there is no chromium-headless-shell");
  const folder = await mkdtemp(join(tmpdir(), "fill-test-"));
  parts.defer(() => rm(folder, { recursive: true }));
  const program = join(folder, "chromium");
  await writeFile(program, `#!/bin/sh\nexec '${chromium}' --site-per-process "$@"\n`, { mode: 0o755 });
  return program;
};

/** A real browser behind a real agent, with a session's client that stays connected, and a site. */
export const startFillParts = async (settings: Partial<BrowserConfig> = {}): Promise<FillParts> => {
  await using parts = new AsyncDisposableStack();
  const site = parts.use(await startFillSite());
  const agents = parts.use(createTestAgents());
  const agent = await agents.start(settings, {
    env: { BROWSERPOOL_CHROMIUM_HEADLESS: await isolatingChromium(parts) },
  });
  await agent.bind(session, 1);
  const browser = await agent.connect(session);
  parts.defer(() => browser.disconnect());
  const token = createAgentTokens(agent.privateKey).tokenFor(agent.podUid);
  const connect = {
    url: `${agent.baseUrl.replace("http", "ws")}/cdp`,
    headers: { authorization: `Bearer ${token}`, [sessionHeader]: session },
  };
  /** Reads a value in a frame; the reader returns undefined where there is none. */
  const readFrames = async <T>(
    page: Page,
    what: string,
    read: (frames: Frame[]) => Promise<T | undefined>,
  ): Promise<T> => {
    if (page.frames().length === 1) {
      const found = await read(page.frames());
      if (found !== undefined) return found;
    }
    // Puppeteer can miss frames of other processes that appear while it is connected. A new connection learns of all of
    // them, but of those inside such frames a moment after the page.
    let failure: unknown;
    const told = () => `${what} in a frame of ${page.url()}${failure ? ` (${failure})` : ""}`;
    return eventually(told, async () => {
      const reader = await agent.connect(session);
      try {
        const same = (await reader.pages()).find((each) => each.url() === page.url());
        return await read(same?.frames() ?? []);
      } catch (cause) {
        failure = cause;
        return undefined;
      } finally {
        await reader.disconnect();
      }
    });
  };
  const kept = parts.move();
  return {
    agent,
    browser,
    site,
    connect,
    async open(name, rest = "") {
      const page = await browser.newPage();
      // Puppeteer would wait for events of every frame, and it can miss some.
      await page.goto(site.url(name) + rest, { waitUntil: [] });
      await eventually(
        `${name} with its frames`,
        async () => (await page.evaluate("document.readyState")) === "complete",
      );
      return page;
    },
    fill: (page, values, more) =>
      fillPage(
        { connect, pageUrl: page.url(), timeoutMs, bindings: bindingsOf(values), ...more },
        new AbortController().signal,
      ),
    shown: (page, selector) => readFrames(page, selector, (frames) => valueIn(frames, selector)),
    eventsIn: (page, name) =>
      readFrames(page, `${name}.html`, async (frames) => {
        const frame = frames.find((each) => each.url().endsWith(`/${name}.html`));
        return frame?.evaluate(() => (globalThis as unknown as PageState).events);
      }),
    async clear() {
      // Without puppeteer, which waits for events that a leaving page may never send.
      const cdp = await browser.target().createCDPSession();
      const tabs = async (): Promise<string[]> =>
        (await cdp.send("Target.getTargets")).targetInfos.flatMap(({ type, targetId }) =>
          type === "page" ? targetId : [],
        );
      const { targetId: blank } = await cdp.send("Target.createTarget", { url: "about:blank" });
      await eventually("the tabs are closed", async () => {
        const old = (await tabs()).filter((targetId) => targetId !== blank);
        // Repeated, because a tab that is just leaving its page may ignore the call. A tab that is already closed is no
        // failure.
        for (const targetId of old) await cdp.send("Target.closeTarget", { targetId }).catch(() => undefined);
        return old.length === 0;
      });
      await cdp.detach();
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
