/** The requests for on-demand browsers over HTTP (BROWSER-2), derived from the spec of the kind (browser.ts). */
import { z } from "zod";
import { documentedForms, exactlyOneField, notTogether } from "../../../platform/kinds/document-rules.ts";
import { maxIdLength, nameOnWire } from "../../../platform/kinds/selector.ts";
import { wireSchema } from "../../../platform/kinds/wire.ts";
import { lenientFields, profileFields, profileForms } from "../pools/browser-pool-wire.ts";
import { NetworkChange } from "../sessions/allowlist.ts";
import { ProfileToLoad, SessionTelemetry, Tags } from "../sessions/session-wire.ts";
import { isStartUrl, startUrlMessage, startUrlOrNone, timeoutSeconds, Viewport } from "../settings/browser-settings.ts";
import { LocationChange } from "../settings/location.ts";
import { BrowserSpec } from "./browser.ts";

const ProxyChoice = exactlyOneField(
  z.object({
    id: z.string().max(maxIdLength).optional(),
    mode: z.enum(["direct", "default"]).optional().describe("There is no default proxy here, so both mean none."),
  }),
  "id",
  "mode",
);

/** The request of `POST /browsers` in camelCase; `core/model/browsers/browser-requests.ts` turns it into a spec. */
export const BrowserRequest = BrowserSpec.extend({
  ...lenientFields,
  profile: documentedForms(
    z.object({
      ...profileFields,
      saveChanges: z
        .boolean()
        .default(false)
        .describe("Save the browser's state to the profile when the browser ends."),
    }),
    profileForms,
  )
    .optional()
    .describe("The profile that the browser starts with, by id or by name."),
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

const BrowserChanges = z.object({
  disable_default_proxy: z
    .boolean()
    .optional()
    .describe(
      "There is no default proxy here: browsers without a proxy_id connect directly. So both values hold as they are.",
    ),
  name: nameOnWire
    .or(z.literal(""))
    .nullable()
    .optional()
    .describe("The session's new name, unique among the project's active ones. An empty string clears it."),
  profile: ProfileToLoad.optional().describe(
    "The profile to load, by id or by name, into a session that has none. Chromium starts anew: pages, cookies and downloads are gone, connections are cut, and the URLs of the session stay good.",
  ),
  location: LocationChange.optional(),
  network: NetworkChange.optional().describe(
    "The hosts that the browser may reach. Open connections to others are cut; private_hosts and proxy_routes are fixed when a browser starts.",
  ),
  proxy_id: z
    .string()
    .max(maxIdLength)
    .nullable()
    .optional()
    .describe(
      "The id of the proxy that all traffic takes from now on; an empty string or null takes it away. Chromium starts anew, as for a profile, where the browser has no network rules or proxy yet, or does not trust the proxy's ca_bundle yet.",
    ),
  proxy: ProxyChoice.optional().describe('The same as proxy_id: {id}, or {mode: "direct"} for none.'),
  start_url: startUrlOrNone
    .refine(isStartUrl, startUrlMessage)
    .optional()
    .describe("Opened in the first page once all else has changed, best effort. An empty string opens nothing."),
  timeout_seconds: timeoutSeconds
    .optional()
    .describe(
      "Seconds without a connection after which the browser is destroyed, counted anew from now on (10 to 259200).",
    ),
  viewport: wireSchema(
    Viewport.extend({
      force: z.boolean().optional().describe("Of no effect: nothing that forbids a change is there."),
    }),
  )
    .optional()
    .describe(
      "Size of all windows, and of those that are opened later. The screen of a browser that is not headless can't become larger than at its start.",
    ),
  tags: Tags.nullable().optional().describe("Replaces all tags; an empty object clears them."),
  telemetry: SessionTelemetry.nullable()
    .optional()
    .describe("Merges onto the present settings. At most 8 KiB as JSON."),
});

/** The request of `PATCH /browsers/{id_or_name}`. What is left out stays as it is. */
export const UpdateBrowser = notTogether(BrowserChanges, {
  proxy: { type: "object" },
  proxy_id: { type: ["string", "null"] },
});
export type UpdateBrowser = z.output<typeof UpdateBrowser>;
