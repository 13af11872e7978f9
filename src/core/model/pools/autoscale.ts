/** The part `autoscale` of a pool's spec: bounds of its size, and how it follows the demand (POOL-23). */
import { z } from "zod";
import { documentedForms } from "../../../platform/kinds/document-rules.ts";
import { validations } from "../../../platform/kinds/kind.ts";

/** Days of the week as windows of a schedule name them, in the order of ISO 8601. */
export const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;

const most = 2_147_483_647;

const timeOfDay = z.string().regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/);

const needsBound = "give min, max or both";
const minAboveMax = "min must not be above max";

/** The messages of the API server for YAML and of the HTTP API for requests. */
export const autoscaleMessages = { needsBound, minAboveMax } as const;

const anyBound = [{ required: ["min"] }, { required: ["max"], not: { required: ["min"] } }];

const ScheduleWindow = documentedForms(
  z
    .object({
      days: z
        .array(z.enum(weekdays))
        .min(1)
        .max(7)
        .default([...weekdays])
        .describe("The days on which the window begins. Left out: every day."),
      start: timeOfDay.describe("When it begins, e.g. 08:00."),
      end: timeOfDay.describe(
        "When it is over, e.g. 18:00. At or before start: on the next day, so 00:00 to 00:00 is the whole day.",
      ),
      timeZone: z
        .string()
        .regex(/^[A-Za-z][A-Za-z0-9_+/-]*$/)
        .max(64)
        .default("UTC")
        .describe("The time zone of days and times, by its IANA name, e.g. Europe/Berlin."),
      min: z.int().min(0).max(most).optional().describe("In place of the pool's min. Left out: that one."),
      max: z.int().min(1).max(most).optional().describe("In place of the pool's max. Left out: that one."),
    })
    .meta(validations({ rule: "has(self.min) || has(self.max)", message: needsBound }))
    .describe("Other bounds for a part of the week. Of windows that overlap, the highest bounds count."),
  anyBound,
);

/** A number of browsers, or a share of those in use, as Kubernetes' IntOrString. */
const IntOrPercent = z
  .union([z.int().min(0).max(most), z.string().regex(/^[0-9]{1,3}%$/)])
  .meta({ "x-kubernetes-int-or-string": true });

export const Autoscale = z
  .object({
    min: z
      .int()
      .min(0)
      .max(most)
      .default(1)
      .describe("The smallest size. 0 lets the pool go to zero; a caller who waits brings it back."),
    max: z.int().min(1).max(most).describe("The largest size."),
    buffer: IntOrPercent.default("20%").describe(
      "Browsers that are kept idle above those in use: a number, or a percentage of those in use, rounded up. 0 or a percentage lets the pool go to zero.",
    ),
    scaleDownAfterSeconds: z
      .int()
      .min(1)
      .max(86_400)
      .default(300)
      .describe("The size falls to the highest that was wanted in this time, and no lower."),
    schedule: z.array(ScheduleWindow).max(16).optional().describe("Other bounds for parts of the week."),
  })
  .meta(
    validations(
      { rule: "self.min <= self.max", message: minAboveMax, fieldPath: ".min" },
      {
        rule: "!has(self.schedule) || self.schedule.all(w, (has(w.min) ? w.min : self.min) <= (has(w.max) ? w.max : self.max))",
        message: minAboveMax,
        fieldPath: ".schedule",
      },
    ),
  );
export type Autoscale = z.infer<typeof Autoscale>;
export type ScheduleWindow = z.infer<typeof ScheduleWindow>;
