import type { BrowserConfig } from "../protocol/agent-api.ts";
import type { BrowserParts } from "./browser-parts.ts";
import { languageFlags } from "./chromium-location.ts";

type ChromiumSetup = {
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
  // Warnings and worse: the log, which the holder reads, has nothing that pages write to their consoles.
  "--log-level=1",
];

/**
 * Pixels of tabs and address bar above a page, in every window of a Chromium with `--test-type` (checked by a test).
 */
const frameHeight = 87;

export type WindowSize = { width: number; height: number };

/**
 * The size of each window. The shell's has no frame, so its size is the viewport of every page. The full browser
 * without a screen has one: it is higher than the viewport, so that every page has the viewport. Headful, the screen
 * has the viewport's size, and the window fills it except for the last row of pixels: without a window manager,
 * Chromium would shrink a window of exactly the screen's size by one pixel in both directions.
 */
export const windowSize = (
  { headless, viewport: { width, height } }: Pick<BrowserConfig, "headless" | "viewport">,
  shell: boolean,
): WindowSize => {
  if (!headless) return { width, height: Math.max(1, height - 1) };
  return { width, height: shell ? height : height + frameHeight };
};

const sizeFlag = ({ width, height }: WindowSize): string => `--window-size=${width},${height}`;

const shellFlags = (browser: BrowserConfig): string[] => [
  "--headless",
  // The shell logs to stderr without it, too, but then with no regard to the level, pages' consoles included.
  "--enable-logging=stderr",
  sizeFlag(windowSize(browser, true)),
];

/** The screen that a full browser without one tells of has the window's size; without saying so it would be 800x600. */
const screenlessFlags = (browser: BrowserConfig): string[] => [
  // Drawn to nowhere. Chromium's own headless mode does that, too, and says so in its user agent; what `--user-agent`
  // replaces has no complete client hints any more.
  browser.stealth ? "--ozone-platform=headless" : "--headless",
  `--screen-info={${browser.viewport.width}x${windowSize(browser, false).height}}`,
  sizeFlag(windowSize(browser, false)),
  "--window-position=0,0",
  ...fullBrowser,
];

const fullBrowser = [
  // Hides the warning bars about flags, which take away part of the page's height.
  "--test-type",
  // Without this, Chromium exits when the holder closes the last tab.
  "--keep-alive-for-test",
];

const headfulFlags = (browser: BrowserConfig): string[] => [
  "--ozone-platform=x11",
  sizeFlag(windowSize(browser, false)),
  "--window-position=0,0",
  ...fullBrowser,
  ...(browser.kiosk_mode ? ["--kiosk"] : []),
];

/**
 * Takes away signals of automation (docs/stealth.md). Only launch settings: a script in pages would be a signal itself.
 */
const stealthFlags = ({ headless }: BrowserConfig): string[] => [
  // navigator.webdriver is false, as in a browser without DevTools.
  "--disable-blink-features=AutomationControlled",
  // A page without WebGL stands out more than one with a software renderer.
  "--enable-unsafe-swiftshader",
  // Pages find the mouse that a virtual screen has and a browser without one lacks: it hovers (2) and points finely
  // (4).
  ...(headless
    ? ["--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"]
    : []),
];

/**
 * Chromium finds a GPU that its list of known problems excludes in containers, and draws by Vulkan, which needs no X
 * server of the GPU's vendor.
 */
const gpuFlags = ["--use-gl=angle", "--use-angle=vulkan", "--disable-vulkan-surface", "--ignore-gpu-blocklist"];

/**
 * The features of Chromium that are off by default: pages can offer tools to agents (WebMCP). A page can tell a browser
 * that has it, so a stealth browser has it not.
 */
const featuresOf = ({ gpu, stealth }: BrowserConfig): string[] => [
  ...(gpu ? ["Vulkan"] : []),
  ...(stealth ? [] : ["WebMCP"]),
];

const featuresFlag = (features: readonly string[]): string[] =>
  features.length > 0 ? [`--enable-features=${features.join(",")}`] : [];

const displayFlags = (browser: BrowserConfig, shell: boolean): string[] => {
  if (!browser.headless) return headfulFlags(browser);
  return shell ? shellFlags(browser) : screenlessFlags(browser);
};

/**
 * Chromium's arguments. The refresh rate is the virtual screen's (virtual-screen.ts). `start_url` is opened over CDP:
 * every user of a machine can read arguments.
 */
export const chromiumFlags = (browser: BrowserConfig, setup: ChromiumSetup): string[] => [
  ...common,
  ...(browser.gpu ? gpuFlags : ["--disable-gpu"]),
  // Chromium listens on 127.0.0.1 only; port 0 is a free port, which it prints on stderr.
  `--remote-debugging-port=${setup.parts.devToolsPort}`,
  ...setup.parts.flags,
  `--user-data-dir=${setup.profileDir}`,
  ...(setup.sandbox ? [] : ["--no-sandbox"]),
  ...(setup.smallSharedMemory ? ["--disable-dev-shm-usage"] : []),
  ...(browser.location ? languageFlags(browser.location) : []),
  ...displayFlags(browser, setup.shell),
  ...(browser.stealth ? stealthFlags(browser) : []),
  ...featuresFlag(featuresOf(browser)),
  "about:blank",
];
