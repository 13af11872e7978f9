import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";
import { chromiumFlags } from "../../src/core/agent/chromium-flags.ts";
import { packProfile } from "../../src/features/profiles/archive/pack-profile.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../src/local/required-program.ts";

const settings = { headless: true, viewport: { width: 800, height: 600 }, kiosk_mode: false };

/** The archive of a profile whose browser has opened this URL. */
export const profileThatVisited = async (url: string): Promise<Buffer> => {
  const folder = await mkdtemp(join(tmpdir(), "visited-"));
  const profileDir = join(folder, "profile");
  try {
    const parts = { devToolsPort: 0, flags: [] };
    const sandbox = process.getuid?.() !== 0;
    const browser = await puppeteer.launch({
      executablePath: requiredProgram(locatePrograms(process.env), "chromium"),
      ignoreDefaultArgs: true,
      args: chromiumFlags(settings, { profileDir, shell: false, sandbox, smallSharedMemory: true, parts }),
    });
    const page = await browser.newPage();
    await page.goto(url);
    // Not by a signal: after SIGTERM, cookies of the last seconds were missing.
    await browser.close();
    const chunks: Uint8Array[] = [];
    for await (const chunk of packProfile(profileDir, { signal: AbortSignal.timeout(60_000) })) chunks.push(chunk);
    return Buffer.concat(chunks);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
};
