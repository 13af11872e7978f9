import { configDefaults, defineConfig } from "vitest/config";
import { notDrawn, readDraw, SlowFirst } from "./test/support/slow-tests.ts";

const draw = readDraw(process.env);

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts", "bench/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(draw ? notDrawn(import.meta.dirname, draw) : [])],
    globalSetup: ["test/support/control-plane-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
    // Real servers and browsers on a machine that others load too: an unattended run tries a failed test once more. By
    // hand nothing is tried twice, so that a test that is not steady is noticed where it can be mended.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
