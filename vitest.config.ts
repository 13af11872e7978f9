import { defineConfig } from "vitest/config";
import { integrationPattern, unitPatterns } from "./test/runner/test-files.ts";

export default defineConfig({
  test: {
    pool: "forks",
    // One more than the two cores that a run is meant for: a third of the time a worker waits for what it has started.
    maxWorkers: 3,
    // Files share a process: to load the same modules for each file anew is most of what unit tests would take, and a fifth of the rest.
    isolate: false,
    // Real servers and browsers on a machine that others load too: an unattended run tries a failed test once more. By
    // hand nothing is tried twice, so that a test that is not steady is noticed where it can be mended.
    retry: process.env.CI ? 1 : 0,
    teardownTimeout: 30_000,
    // As `eventually`: what is waited for is an event, on a machine that others load too.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: { name: "unit", include: [...unitPatterns], testTimeout: 20_000 },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: [integrationPattern],
          globalSetup: ["test/support/control-plane-setup.ts"],
          setupFiles: ["test/support/left-behind.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
