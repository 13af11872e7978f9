/** Which telemetry of a browser is captured and where it goes (the TELEMETRY rules). */
import { z } from "zod";
import { documentedForms } from "../../../platform/kinds/document-rules.ts";
import { validations } from "../../../platform/kinds/kind.ts";
import { Selector } from "../../../platform/kinds/selector.ts";

/** What each category captures; the keys are the categories. */
const categoryTexts = {
  captcha: "Outcomes of attempts to solve a captcha. On by default.",
  connection: "Clients that attach to and detach from the browser. On by default.",
  console: "Console output and uncaught exceptions of pages. Off by default.",
  control: "What clients do to the browser, such as CDP commands. On by default.",
  interaction: "Clicks, key presses and scrolling in pages. Off by default.",
  network: "Requests and responses of pages. Off by default.",
  page: "Navigation and loading of pages. Off by default.",
  platform: "What the platform does around the browser. Off by default.",
  screenshot: "Pictures of the viewport, taken periodically. Off by default.",
  system: "Health of the browser's machine, such as crashes. On by default.",
} as const;

export type TelemetryCategory = keyof typeof categoryTexts;
const isCategory = (name: string): name is TelemetryCategory => Object.hasOwn(categoryTexts, name);
/** The names of all categories, in the order of the document. */
export const telemetryCategories = Object.keys(categoryTexts).filter(isCategory);

const Category = z.object({ enabled: z.boolean().optional().describe("Whether the category is captured.") });

const category = (name: TelemetryCategory) => Category.describe(categoryTexts[name]).optional();

const ControlCategory = Category.extend({
  cdp: z
    .object({
      excludedMethods: z
        .array(z.string().min(1).max(128))
        .max(1000)
        .optional()
        .describe("CDP methods that are left out, e.g. Input.dispatchMouseEvent."),
    })
    .optional()
    .describe("How CDP commands are captured."),
}).describe(categoryTexts.control);

const TelemetryCategories = z.object({
  captcha: category("captcha"),
  connection: category("connection"),
  console: category("console"),
  control: ControlCategory.optional(),
  interaction: category("interaction"),
  network: category("network"),
  page: category("page"),
  platform: category("platform"),
  screenshot: category("screenshot"),
  system: category("system"),
});

/** Messages are shared with the HTTP API, which checks the same rules on requests (core/model/settings/telemetry-merge.ts). */
export const telemetryMessages = {
  categoriesWhileOff: "enabled: false cannot be combined with category settings",
  destinationWhileOff: "a destination cannot be combined with enabled: false",
  destinationMissing: "an enabled export needs a destination",
} as const;

/** Off with these properties alone; on, or not said, with any. */
const offWith = (properties: Record<string, unknown>): Record<string, unknown>[] => [
  { properties: { enabled: { const: true } } },
  { properties: { enabled: { const: false }, ...properties }, required: ["enabled"] },
];

const Otlp = documentedForms(
  z
    .object({
      enabled: z.boolean().optional().describe("Whether telemetry is exported. A destination implies true."),
      destination: Selector.describe("The telemetry destination to export to, by id or by name.").optional(),
    })
    .meta(
      validations(
        {
          rule: "!has(self.enabled) || self.enabled || !has(self.destination)",
          message: telemetryMessages.destinationWhileOff,
        },
        {
          rule: "!has(self.enabled) || !self.enabled || has(self.destination)",
          message: telemetryMessages.destinationMissing,
        },
      ),
    )
    .describe("Export by the OpenTelemetry protocol."),
  offWith({ destination: { not: {} } }),
);

const anyCategory = telemetryCategories.map((name) => `has(self.browser.${name})`).join(" || ");

const noCategory = { not: { anyOf: telemetryCategories.map((name) => ({ required: [name] })) } };

/** The settings of a pool, a browser or a session; short forms are merged by core/model/settings/telemetry-merge.ts. */
export const Telemetry = documentedForms(
  z
    .object({
      enabled: z
        .boolean()
        .optional()
        .describe(
          "True captures the default set (control, connection, system, captcha) with the settings under browser on top.",
        ),
      browser: TelemetryCategories.optional().describe("Settings per category of events."),
      export: z.object({ otlp: Otlp.optional() }).optional().describe("Where telemetry is exported to."),
      storage: z
        .object({ enabled: z.boolean().optional().describe("Whether captured telemetry is stored.") })
        .optional()
        .describe("Storage of captured telemetry."),
    })
    .meta(
      validations({
        rule: `!has(self.enabled) || self.enabled || !has(self.browser) || !(${anyCategory})`,
        message: telemetryMessages.categoriesWhileOff,
      }),
    ),
  offWith({ browser: noCategory }),
);
export type Telemetry = z.infer<typeof Telemetry>;
