/** The requests for on-demand browsers over HTTP (BROWSER-2), derived from the spec of the kind (browser.ts). */
import { z } from "zod";
import { BrowserSpec } from "./browser.ts";
import { lenientFields } from "./browser-pool-wire.ts";
import { exactlyOneField, notTogether } from "./document-rules.ts";
import { maxIdLength, namePattern } from "./selector.ts";
import { SessionTelemetry, Tags } from "./session-wire.ts";
import { wireSchema } from "./wire.ts";

const ProxyChoice = exactlyOneField(
  z.object({
    id: z.string().max(maxIdLength).optional(),
    mode: z.enum(["direct"]).optional(),
  }),
  "id",
  "mode",
);

/** The request of `POST /browsers` in camelCase; `domain/browser-create.ts` turns it into a spec. */
export const BrowserRequest = BrowserSpec.extend({
  ...lenientFields,
  tags: Tags.optional(),
  proxy: ProxyChoice.optional().describe('The proxy that all traffic takes: {id}, or {mode: "direct"} for none.'),
});
export type BrowserRequest = z.infer<typeof BrowserRequest>;

/** The request of `POST /browsers`. */
export const CreateBrowser = notTogether(wireSchema(BrowserRequest), {
  proxy: { type: "object" },
  // An empty id is none.
  proxy_id: { type: "string", minLength: 1 },
});
export type CreateBrowser = z.output<typeof CreateBrowser>;

/** The request of `PATCH /browsers/{id_or_name}`. What is left out stays as it is. */
export const UpdateBrowser = z.object({
  name: z
    .string()
    .regex(namePattern)
    .or(z.literal(""))
    .nullable()
    .optional()
    .describe("The session's new name, unique among the project's active ones. An empty string clears it."),
  tags: Tags.nullable().optional().describe("Replaces all tags; an empty object clears them."),
  telemetry: SessionTelemetry.nullable()
    .optional()
    .describe("Merges onto the present settings. At most 8 KiB as JSON."),
});
export type UpdateBrowser = z.output<typeof UpdateBrowser>;
