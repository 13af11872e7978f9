import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type ConnectOverCDPOptions, chromium } from "playwright-core";
import { onTestFinished } from "vitest";

/**
 * Connects Playwright for one test. Left to itself, it goes on using the temp folder of the file that has loaded it first
 * in this process.
 */
export const connectPlaywright = async (url: string, options: ConnectOverCDPOptions = {}): Promise<Browser> => {
  const artifactsDir = await mkdtemp(join(tmpdir(), "playwright-"));
  onTestFinished(() => rm(artifactsDir, { recursive: true, force: true }));
  return chromium.connectOverCDP(url, { ...options, artifactsDir });
};
