/** The item operation `fill` over HTTP (docs/rules.md, FILL). */
import { z } from "zod";
import { maxIdLength } from "../../../platform/kinds/selector.ts";

/** Longest name of a field, characters. */
const maxFieldName = 255;
const maxSelector = 2048;
const maxBindings = 50;

const Binding = z.object({
  field: z.string().min(1).max(maxFieldName).describe("A name from the item's `state.fields`."),
  selector: z
    .string()
    .min(1)
    .max(maxSelector)
    .describe(
      "CSS selector of one editable input, textarea or select, or of an element that has exactly one in it; searched in all frames and open shadow roots.",
    ),
});

export const FillItem = z.object({
  type: z.literal("fill"),
  browser_id: z.string().min(1).max(maxIdLength).describe("The session_id of a browser that has the vault attached."),
  page_url: z
    .string()
    .max(65_536)
    .optional()
    .describe("URL of the page, exactly, fragment included. Left out: there must be one open page only."),
  timeout_ms: z.int().min(1).max(30_000).default(10_000).describe("For the whole operation."),
  fields: z.array(Binding).min(1).max(maxBindings).describe("Written in this order; the first failure stops the rest."),
});
export type FillItem = z.output<typeof FillItem>;

/** The errors of a field (FILL-32). */
export const fieldErrors = [
  "target_changed",
  "element_not_found",
  "ambiguous_selector",
  "element_not_editable",
  "option_not_found",
  "timeout",
  "execution_failed",
] as const;

export const FillAnswer = z.object({
  type: z.literal("fill"),
  status: z
    .enum(["completed", "failed", "unknown"])
    .describe("completed: every field has its value. It does not say that a login succeeded."),
  fields: z
    .array(
      z.object({
        index: z.int().min(0).describe("Place in the request, from 0."),
        status: z.enum(["filled", "failed", "not_attempted", "unknown"]),
        error_code: z.enum(fieldErrors).optional(),
      }),
    )
    .describe("One for each binding, in order."),
});
export type FillAnswer = z.output<typeof FillAnswer>;
