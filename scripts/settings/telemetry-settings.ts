/** The table's rows for telemetry. */
import { Telemetry, type TelemetryCategory, telemetryCategories } from "../../src/core/model/settings/telemetry.ts";
import type { FieldPath, Setting } from "./setting.ts";

const merged = "test/e2e/patch-rules.test.ts";
const mergedTitle = "merges telemetry: null and {} keep it, enabled: false clears it (11)";

const kept = {
  by: "API (merges and answers it)",
  takesHold: { pool: "new browsers", browser: "at once" },
} as const;

const captured: Setting = {
  by: "agent (captures), API (collects)",
  takesHold: { pool: "new browsers", browser: "at once" },
  shownBy: {
    [merged]: [mergedTitle],
    "test/e2e/telemetry.test.ts": [
      "what a page does is read by the SDK, as it comes and afterwards; a change of the session counts at once",
    ],
  },
};

const destination: Setting = {
  ...kept,
  shownBy: {
    "src/core/model/settings/telemetry.test.ts": ["is turned on by a destination"],
    "test/features/telemetry/destinations.test.ts": [
      "a pool's telemetry names a destination by id or by name, and none that is not there",
    ],
    "test/e2e/telemetry.test.ts": [
      "a visit is read over broken connections without gap or repeat, and the same events reach a collector that was dead",
    ],
  },
};

const categories = Telemetry.shape.browser.unwrap().shape;

const categoryRows = Object.fromEntries(
  telemetryCategories.map((name) => [
    `telemetry.browser.${name}.enabled`,
    { ...captured, effect: categories[name].unwrap().description ?? "" },
  ]),
) as Record<`telemetry.browser.${TelemetryCategory}.enabled`, Setting>;

/** Rows of both kinds. */
export const telemetrySettings = {
  "telemetry.enabled": captured,
  ...categoryRows,
  "telemetry.browser.control.cdp.excludedMethods": {
    ...captured,
    shownBy: {
      "src/core/model/settings/telemetry.test.ts": ["replace those of before and leave the category as it is"],
    },
  },
  "telemetry.export.otlp.enabled": {
    ...kept,
    shownBy: {
      "src/core/model/settings/telemetry.test.ts": ["that is turned off forgets its destination"],
      "test/e2e/telemetry.test.ts": [
        "a visit is read over broken connections without gap or repeat, and the same events reach a collector that was dead",
      ],
    },
  },
  "telemetry.export.otlp.destination.id": {
    ...destination,
    effect: "The telemetry destination to export to, by its id.",
  },
  "telemetry.export.otlp.destination.name": { ...destination, effect: "The same by its name." },
  "telemetry.storage.enabled": {
    by: "API (collects events into Redis)",
    takesHold: { pool: "new browsers", browser: "at once" },
    shownBy: {
      "test/features/telemetry/read.slow.test.ts": [
        "stay after the session when it asked for storage, and the oldest sessions of a project go first",
      ],
    },
  },
} satisfies Partial<Record<FieldPath, Setting>>;
