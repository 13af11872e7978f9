/** Chromium as the agent starts it, without the agent. */
import puppeteer, { type Browser } from "puppeteer-core";
import { chromiumFlags } from "../../src/core/agent/chromium-flags.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../src/local/required-program.ts";

const settings = { headless: true, viewport: { width: 800, height: 600 }, kiosk_mode: false } as never;

/** Starts the full Chromium with this folder as its profile and with further `flags`. */
export const launchChromium = (profileDir: string, flags: readonly string[] = []): Promise<Browser> => {
  const sandbox = process.getuid?.() !== 0;
  const parts = { devToolsPort: 0, flags: [...flags] };
  return puppeteer.launch({
    executablePath: requiredProgram(locatePrograms(process.env), "chromium"),
    ignoreDefaultArgs: true,
    args: chromiumFlags(settings, { profileDir, shell: false, sandbox, smallSharedMemory: true, parts }),
  });
};
