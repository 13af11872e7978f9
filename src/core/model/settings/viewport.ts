/** The defaults of a browser's window (BROWSER-13, BROWSER-14, BROWSER-16). */
import type { Viewport } from "./browser-settings.ts";

type FullViewport = { width: number; height: number; refreshRate: number };

/** Pixels of a browser for which the caller gave no viewport. */
const defaultSize: Viewport = { width: 1920, height: 1080 };

/** The largest pixel counts that the presets give 60 Hz (1280x800) and 25 Hz (1920x1200); 2560x1440 has 10 Hz. */
const rates = [
  { maxPixels: 1280 * 800, refreshRate: 60 },
  { maxPixels: 1920 * 1200, refreshRate: 25 },
];

/** The same with a GPU: every recommended size has 60 Hz, larger ones have the next lower rate that is recommended. */
const gpuRates = [{ maxPixels: 1920 * 1200, refreshRate: 60 }];

/** Hz; lower for higher resolutions. Gives every preset its own rate (BROWSER-13). */
const refreshRateFor = (width: number, height: number, gpu: boolean): number =>
  (gpu ? gpuRates : rates).find(({ maxPixels }) => width * height <= maxPixels)?.refreshRate ?? (gpu ? 30 : 10);

/** The complete viewport that a browser is started with. */
export const resolveViewport = (viewport: Viewport | undefined, { gpu = false } = {}): FullViewport => {
  const { width, height, refreshRate } = viewport ?? defaultSize;
  return { width, height, refreshRate: refreshRate ?? refreshRateFor(width, height, gpu) };
};
