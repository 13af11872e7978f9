import type { BrowserConfig } from "../protocol/agent-api.ts";

export type ChromiumSetup = {
  profileDir: string;
  /** False adds `--no-sandbox`. */
  sandbox: boolean;
  /** Whether /dev/shm is too small for Chromium (a container's default is 64 MiB). */
  smallSharedMemory: boolean;
};

const common = [
  // Chromium listens on 127.0.0.1 only, on a free port that it names on stderr.
  "--remote-debugging-port=0",
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
 * Headful: the screen has the viewport's size and the window fills it, but for its last row of pixels: without a window
 * manager Chromium makes a window of exactly the screen's size smaller by one pixel both ways.
 */
const headfulFlags = ({ viewport, kiosk_mode }: BrowserConfig): string[] => [
  "--ozone-platform=x11",
  `--window-size=${viewport.width},${Math.max(1, viewport.height - 1)}`,
  "--window-position=0,0",
  // No bar above the page that warns of `--no-sandbox` and takes a part of its height.
  "--test-type",
  // Chromium would end itself when its holder closes the last tab.
  "--keep-alive-for-test",
  ...(kiosk_mode ? ["--kiosk"] : []),
];

/** Chromium's arguments. `refresh_rate` has no flag, and `start_url` is opened over CDP: arguments are seen by every user of a machine. */
export const chromiumFlags = (browser: BrowserConfig, setup: ChromiumSetup): string[] => [
  ...common,
  `--user-data-dir=${setup.profileDir}`,
  ...(setup.sandbox ? [] : ["--no-sandbox"]),
  ...(setup.smallSharedMemory ? ["--disable-dev-shm-usage"] : []),
  ...(browser.headless ? headlessFlags(browser) : headfulFlags(browser)),
  "about:blank",
];
