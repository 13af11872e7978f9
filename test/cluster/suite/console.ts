/** The console of the installed release, as the chart serves it: to whom, and in a real browser. */
import { deepStrictEqual } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { startBreakableLink } from "../../support/breakable-link.ts";
import { launchChromium } from "../../support/plain-chromium.ts";
import type { Lane, Phase } from "../lane.ts";
import { callOf } from "./call.ts";

/** The Service under a loopback name, as `kubectl port-forward` has it. */
const forwarded = async <T>({ stack }: Lane, work: (url: string) => Promise<T>): Promise<T> => {
  const { hostname, port } = new URL(stack.url);
  const link = await startBreakableLink(Number(port || 80), hostname);
  try {
    return await work(`http://127.0.0.1:${link.port}`);
  } finally {
    link.close();
  }
};

/** What requests with other names in `Host` get: a program's answer at `/`, and no console. */
const refuseStrangers = async ({ stack }: Lane): Promise<void> => {
  const root = await fetch(`${stack.url}/`);
  const view = await fetch(`${stack.url}/console`);
  deepStrictEqual([root.status, view.status], [200, 404]);
  const { links } = (await root.json()) as { links: Record<string, string> };
  deepStrictEqual(Object.hasOwn(links, "console"), false);
};

/** Resolves when the page says this, or no longer does. */
const until = (page: Page, text: string, isSaid = true): Promise<unknown> =>
  page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(text)}) === ${isSaid}`, { timeout: 30_000 });

const openInBrowser = async (lane: Lane, url: string): Promise<string> => {
  const profile = await mkdtemp(join(tmpdir(), "cluster-console-"));
  const browser = await launchChromium(profile);
  const call = callOf(lane);
  const name = "seen-in-the-console";
  const pool = await call("POST", "/browser_pools", { name, size: 1, fill_rate_per_minute: 0 });
  try {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(`${url}/`);
    await page.locator("input[name=api_key]").fill(lane.stack.api_key);
    await page.keyboard.press("Enter");
    await page.waitForSelector("nav");
    await page.goto(`${url}/console/pools`);
    await until(page, name);
    await until(page, "Paused");
    await call("DELETE", `/browser_pools/${pool.id}`, {});
    await until(page, name, false);
    deepStrictEqual(faults, []);
    return "a pool appears, with its state, and is gone";
  } finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    await lane.stack.call("DELETE", `/browser_pools/${pool.id}`, {});
  }
};

export const console: Phase = {
  name: "console",
  summary: "the console is served under loopback names alone, and follows the release in a real browser",
  async run(lane, check) {
    await check("under another name there is none", () => refuseStrangers(lane));
    await check("somebody signs in and sees what happens", () => forwarded(lane, (url) => openInBrowser(lane, url)));
  },
};
