/** The defaults of a browser's window (BROWSER-13, BROWSER-14). */
import type { Viewport } from "../resources/browser-settings.ts";

type FullViewport = { width: number; height: number; refreshRate: number };

/** Pixels and Hz of a browser for which the caller gave no viewport. */
export const defaultViewport: FullViewport = { width: 1920, height: 1080, refreshRate: 25 };

/** The largest pixel counts that the presets give 60 Hz (1280x800) and 25 Hz (1920x1200); 2560x1440 has 10 Hz. */
const rates = [
  { maxPixels: 1280 * 800, refreshRate: 60 },
  { maxPixels: 1920 * 1200, refreshRate: 25 },
];

/** Hz; lower for higher resolutions. Gives every preset its own rate (BROWSER-13). */
export const refreshRateFor = (width: number, height: number): number =>
  rates.find(({ maxPixels }) => width * height <= maxPixels)?.refreshRate ?? 10;

/** The complete viewport that a browser is started with. */
export const resolveViewport = (viewport: Viewport | undefined): FullViewport => {
  if (!viewport) return defaultViewport;
  const { width, height, refreshRate = refreshRateFor(width, height) } = viewport;
  return { width, height, refreshRate };
};
