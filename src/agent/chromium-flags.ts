import type { BrowserConfig } from "../protocol/agent-api.ts";
import type { BrowserParts } from "./browser-parts.ts";

export type ChromiumSetup = {
  profileDir: string;
  /** Whether the program is the headless shell. */
  shell: boolean;
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
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-breakpad",
];

/** Pixels of tabs and address bar above a page, in every window of a Chromium with `--test-type` (checked by a test). */
const frameHeight = 87;

/** The shell's window has no frame, so its size is the viewport of every page. */
const shellFlags = ({ viewport }: BrowserConfig): string[] => [
  "--headless",
  `--window-size=${viewport.width},${viewport.height}`,
];

/**
 * The full browser without a screen has a window with a frame: it is higher than the viewport, so that every page has the viewport. The
 * screen that it tells of has the window's size; without saying so it would be 800x600.
 */
const screenlessFlags = ({ viewport: { width, height }, stealth }: BrowserConfig): string[] => [
  // Drawn to nowhere. Chromium's own headless mode does that, too, and says so in its user agent; what `--user-agent` replaces has no
  // complete client hints any more.
  stealth ? "--ozone-platform=headless" : "--headless",
  `--screen-info={${width}x${height + frameHeight}}`,
  `--window-size=${width},${height + frameHeight}`,
  "--window-position=0,0",
  ...fullBrowser,
];

const fullBrowser = [
  // Hides the warning bars about flags, which take away part of the page's height.
  "--test-type",
  // Without this, Chromium exits when the holder closes the last tab.
  "--keep-alive-for-test",
];

/**
 * Headful: the screen has the viewport's size, and the window fills it except for the last row of pixels. Without a window
 * manager, Chromium would shrink a window of exactly the screen's size by one pixel in both directions.
 */
const headfulFlags = ({ viewport, kiosk_mode }: BrowserConfig): string[] => [
  "--ozone-platform=x11",
  `--window-size=${viewport.width},${Math.max(1, viewport.height - 1)}`,
  "--window-position=0,0",
  ...fullBrowser,
  ...(kiosk_mode ? ["--kiosk"] : []),
];

/** Takes away signals of automation (docs/stealth.md). Only launch settings: a script in pages would be a signal itself. */
const stealthFlags = ({ headless }: BrowserConfig): string[] => [
  // navigator.webdriver is false, as in a browser without DevTools.
  "--disable-blink-features=AutomationControlled",
  // A page without WebGL stands out more than one with a software renderer.
  "--enable-unsafe-swiftshader",
  // Pages find the mouse that a virtual screen has and a browser without one lacks: it hovers (2) and points finely (4).
  ...(headless
    ? ["--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"]
    : []),
];

/**
 * Chromium finds a GPU that its list of known problems excludes in containers, and draws by Vulkan, which needs no X server of the GPU's
 * vendor.
 */
const gpuFlags = [
  "--use-gl=angle",
  "--use-angle=vulkan",
  "--enable-features=Vulkan",
  "--disable-vulkan-surface",
  "--ignore-gpu-blocklist",
];

const displayFlags = (browser: BrowserConfig, shell: boolean): string[] => {
  if (!browser.headless) return headfulFlags(browser);
  return shell ? shellFlags(browser) : screenlessFlags(browser);
};

/**
 * Chromium's arguments. The refresh rate is the virtual screen's (screen-rate.ts). `start_url` is opened over CDP: every user of a
 * machine can read arguments.
 */
export const chromiumFlags = (browser: BrowserConfig, setup: ChromiumSetup): string[] => [
  ...common,
  ...(browser.gpu ? gpuFlags : ["--disable-gpu"]),
  // Chromium listens on 127.0.0.1 only; port 0 is a free one that it prints on stderr.
  `--remote-debugging-port=${setup.parts.devToolsPort}`,
  ...setup.parts.flags,
  `--user-data-dir=${setup.profileDir}`,
  ...(setup.sandbox ? [] : ["--no-sandbox"]),
  ...(setup.smallSharedMemory ? ["--disable-dev-shm-usage"] : []),
  ...displayFlags(browser, setup.shell),
  ...(browser.stealth ? stealthFlags(browser) : []),
  "about:blank",
];
