/** Sessions over HTTP: the requests of acquire and release, and the answer (the LEASE rules). */
import { z } from "zod";
import { documentedForms } from "../../../platform/kinds/document-rules.ts";
import { maxIdLength, nameOnWire, namePattern } from "../../../platform/kinds/selector.ts";
import { wireSchema } from "../../../platform/kinds/wire.ts";
import type { Problem } from "../../../platform/rules/problem.ts";
import { BrowserPoolSpec } from "../pools/browser-pool.ts";
import { isStartUrl, Network, reportOutcome, startUrlMessage, startUrlOrNone } from "../settings/browser-settings.ts";
import { LocationAnswer } from "../settings/location.ts";
import { settingsWith } from "../settings/setting-table.ts";
import { Telemetry } from "../settings/telemetry.ts";
import { AllowlistState } from "./allowlist.ts";

/** A profile as answers show it, alone or with a session. */
export const ProfileAnswer = z.object({
  id: z.string().describe("The profile's id."),
  name: z.string().nullable().describe("The profile's name; null when it has none."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime().describe("When its name or its contents last changed."),
  last_used_at: z.iso.datetime().optional().describe("When a browser last started with it. Left out: never."),
});
export type ProfileAnswer = z.infer<typeof ProfileAnswer>;

/**
 * The problem of a session that shall live longer than the installation allows (LEASE-33). By YAML such a session is
 * shortened.
 */
export const sessionTooLong = (
  { maxSessionSeconds = 0 }: { maxSessionSeconds?: number | undefined },
  allowedSeconds: number,
): Problem | undefined =>
  maxSessionSeconds > allowedSeconds
    ? { path: "max_session_seconds", message: `above the ${allowedSeconds} s that this installation allows` }
    : undefined;

/** A profile that a running browser loads. */
export const ProfileToLoad = documentedForms(
  z.object({
    id: z.string().max(maxIdLength).optional(),
    name: z.string().regex(namePattern).or(z.literal("")).optional(),
    save_changes: z.boolean().optional().describe("true is refused: give it when the browser is created."),
  }),
  ["id", "name"].map((field) => ({
    required: [field],
    // An empty one counts as not given.
    properties: { [field]: { minLength: 1 }, save_changes: { const: false } },
  })),
);

/** Longest wait that a caller can request, s: a day. */
const maxWaitSeconds = 86_400;

/**
 * Most bytes of a session's tags, and of its telemetry settings, as JSON: Redis and the agent keep them with each
 * lease.
 */
const maxKeptBytes = 8192;

const isShort = (value: unknown): boolean => Buffer.byteLength(JSON.stringify(value)) <= maxKeptBytes;

export const Tags = z
  .record(z.string().min(1).max(255), z.string().max(1024))
  .refine((tags) => Object.keys(tags).length <= 50, "at most 50 pairs")
  .refine(isShort, `at most ${maxKeptBytes} bytes as JSON, all tags together`)
  .describe("Key-value pairs to find sessions by; at most 50, and 8 KiB as JSON.");

const TelemetryWire = wireSchema(Telemetry);

/** The telemetry settings of one session. */
export const SessionTelemetry = TelemetryWire.refine(isShort, `at most ${maxKeptBytes} bytes as JSON`);

export const AcquireBrowser = z.object({
  acquire_timeout_seconds: z
    .int()
    .min(0)
    .max(maxWaitSeconds)
    .optional()
    .describe(
      "Longest wait for a browser. Left out: the time that the pool needs to fill at its rate, from 30 seconds to an hour.",
    ),
  name: nameOnWire.optional().describe("A name for this session, unique among the project's active ones."),
  tags: Tags.optional(),
  start_url: startUrlOrNone
    .refine(isStartUrl, startUrlMessage)
    .optional()
    .describe("Opened for this lease, best effort."),
  telemetry: SessionTelemetry.nullable()
    .optional()
    .describe("For this lease only; merges onto the pool's. At most 8 KiB as JSON."),
  report_outcome: reportOutcome.optional(),
  profile: ProfileToLoad.optional().describe(
    "The profile to load, by id or by name, before the browser is handed out: Chromium starts anew for it. The pool must have none.",
  ),
});
export type AcquireBrowser = z.infer<typeof AcquireBrowser>;

export const ReleaseBrowser = z.object({
  session_id: z.string().min(1).max(maxIdLength).describe("The session to end."),
  reuse: z
    .boolean()
    .default(true)
    .describe("Whether the browser goes back to its pool, by the pool's reuse_policy (true), or is destroyed (false)."),
});
export type ReleaseBrowser = z.infer<typeof ReleaseBrowser>;

const PoolRef = z.object({ id: z.string(), name: z.string().optional() });

/** Settings as the browser was made with. A policy is shown as it was given, though ConfigMaps may have it. */
const asMade = [...settingsWith("answer", "as made"), "viewport", "chromePolicy"] as const;
const configShape = wireSchema(
  BrowserPoolSpec.pick(Object.fromEntries(asMade.map((key) => [key, true])) as Record<(typeof asMade)[number], true>),
);

/** The public clients' `BrowserPoolAcquireResponse` and `BrowserRetrieveResponse`. */
export const Session = z.intersection(
  configShape,
  z.object({
    session_id: z.string(),
    cdp_ws_url: z
      .string()
      .optional()
      .describe("WebSocket URL for CDP; valid until the session ends. Only for keys with the permission browsers:use."),
    webdriver_ws_url: z
      .string()
      .optional()
      .describe(
        "WebSocket URL for WebDriver BiDi; valid until the session ends. Only for keys with the permission browsers:use.",
      ),
    browser_live_view_url: z
      .string()
      .optional()
      .describe(
        "URL of a page that shows the browser and lets a person use it; valid until the session ends. `&readOnly=true` only shows it. Only for keys with browsers:use.",
      ),
    browser_live_view_read_only_url: z
      .string()
      .optional()
      .describe("The same page with a token that only shows the browser. Only for keys with browsers:use."),
    base_url: z
      .string()
      .optional()
      .describe("Base URL of what this session serves over HTTP. Only for keys with browsers:use."),
    requested_at: z.iso
      .datetime()
      .optional()
      .describe("When its caller asked for it; until created_at it waited. Left out where that is not known."),
    created_at: z.iso.datetime(),
    deleted_at: z.iso.datetime().optional().describe("Only of an ended session."),
    timeout_seconds: z.int().describe("Seconds without a connection after which the browser is destroyed."),
    gpu: z.boolean(),
    name: z.string().optional(),
    tags: z.record(z.string(), z.string()).optional(),
    start_url: z.string().optional(),
    region: BrowserPoolSpec.shape.region.unwrap().describe("The region of the session's pool."),
    location: LocationAnswer.optional().describe("Left out: nothing was given, so both are those of the image."),
    network: wireSchema(
      Network.extend({
        allowlistState: AllowlistState.optional().describe("Of a browser that was made with allowed_hosts."),
      }),
    )
      .optional()
      .describe("The network rules that hold now."),
    proxy_id: z.string().optional().describe("The same as proxy.id."),
    proxy: z.object({ id: z.string() }).optional().describe("The proxy that all traffic takes; left out: none."),
    profile: ProfileAnswer.optional().describe(
      "The profile that was loaded. Of an ended session left out when it is gone.",
    ),
    profile_save_changes: z.boolean().optional().describe("Whether the browser's state is saved to the profile."),
    telemetry: TelemetryWire.optional(),
    pool: PoolRef.optional(),
    vaults: z
      .array(z.object({ id: z.string() }))
      .optional()
      .describe("Only of an on-demand browser."),
    usage: z.object({ uptime_ms: z.int() }).optional(),
    end_reason: z.string().optional().describe("Why an ended session ended."),
  }),
);
export type Session = z.infer<typeof Session>;
