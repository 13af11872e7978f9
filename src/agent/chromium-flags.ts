import type { BrowserConfig } from "../protocol/agent-api.ts";
import type { BrowserParts } from "./browser-parts.ts";

export type ChromiumSetup = {
  profileDir: string;
  /** False adds `--no-sandbox`. */
  sandbox: boolean;
  /** Whether /dev/shm is too small for Chromium (a container's default is 64 MiB). */
  smallSharedMemory: boolean;
  parts: Pick<BrowserParts, "devToolsPort" | "flags">;
};

const common = [
  "--no-first-run",
  "--no-default-browser-check",
  "--password-store=basic",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-breakpad",
];

/** Headless: the window has no frame, so its size is the viewport of every page. */
const headlessFlags = ({ viewport }: BrowserConfig): string[] => [
  "--headless",
  `--window-size=${viewport.width},${viewport.height}`,
];

/**
 * Headful: the screen has the viewport's size, and the window fills it except for the last row of pixels. Without a window
 * manager, Chromium would shrink a window of exactly the screen's size by one pixel in both directions.
 */
const headfulFlags = ({ viewport, kiosk_mode }: BrowserConfig): string[] => [
  "--ozone-platform=x11",
  `--window-size=${viewport.width},${Math.max(1, viewport.height - 1)}`,
  "--window-position=0,0",
  // Hides the warning bar about `--no-sandbox`, which takes away part of the page's height.
  "--test-type",
  // Without this, Chromium exits when the holder closes the last tab.
  "--keep-alive-for-test",
  ...(kiosk_mode ? ["--kiosk"] : []),
];

/** Chromium's arguments. The refresh rate is the virtual screen's (screen-rate.ts). `start_url` is opened over CDP: every user of a machine can read arguments. */
export const chromiumFlags = (browser: BrowserConfig, setup: ChromiumSetup): string[] => [
  ...common,
  // Chromium listens on 127.0.0.1 only; port 0 is a free one that it prints on stderr.
  `--remote-debugging-port=${setup.parts.devToolsPort}`,
  ...setup.parts.flags,
  `--user-data-dir=${setup.profileDir}`,
  ...(setup.sandbox ? [] : ["--no-sandbox"]),
  ...(setup.smallSharedMemory ? ["--disable-dev-shm-usage"] : []),
  ...(browser.headless ? headlessFlags(browser) : headfulFlags(browser)),
  "about:blank",
];
