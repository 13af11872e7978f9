/**
 * The events of a session's telemetry (the TELEMETRY rules): the only source of their types, of OpenAPI and of
 * docs/telemetry.md. Names and fields are as in the public SDK's `BrowserTelemetryEvent`; types that it does not
 * know are marked. No event has a body, a cookie, or what was typed.
 */
import { z } from "zod";
import { telemetryCategories } from "../../core/model/settings/telemetry.ts";

/** The longest text in an event, characters; what is longer is cut, and the event says `truncated`. */
export const maxEventText = 2048;

/** The largest event as JSON, bytes: a picture in base64 and its surroundings. */
export const maxEventBytes = 512 * 1024;

const text = z.string().max(maxEventText);
const count = z.int().min(0);

/** Where in the browser an event of a page happened. */
const context = {
  target_id: text.optional().describe("The tab, as CDP names it."),
  session_id: text.optional(),
  target_type: z.enum(["page", "background_page", "service_worker", "shared_worker", "other"]).optional(),
  frame_id: text.optional(),
  loader_id: text.optional().describe("The document, as CDP names it."),
  url: text.optional().describe("Of the document, without login."),
};

const CallFrame = z.object({
  functionName: text,
  url: text,
  scriptId: text,
  lineNumber: z.int(),
  columnNumber: z.int(),
});

const consoleFields = {
  ...context,
  level: text.optional(),
  text: text.optional(),
  args: z.array(text).max(20).optional(),
  stack_trace: z.object({ callFrames: z.array(CallFrame).max(20) }).optional(),
};

const request = {
  ...context,
  request_id: text.optional(),
  resource_type: text.optional(),
  method: text.optional(),
};

const element = {
  ...context,
  tag: text.optional().describe("The kind of element, e.g. `button` or `input[type=text]`."),
};

const call = z.object({
  operation_id: text.describe("The call: what follows the session in its path, e.g. `computer/click_mouse`."),
  request_id: text.describe("Names this call alone."),
  status: z.int(),
  duration_ms: z.number().min(0),
});

/** Every type of event: its category, what it tells, and its data. */
export const telemetryEventTypes = {
  console_log: {
    category: "console",
    about: "A page has written to its console.",
    data: z.object(consoleFields),
  },
  console_error: {
    category: "console",
    about: "A page has written an error to its console, or has not caught an exception.",
    data: z.object({
      ...consoleFields,
      text,
      line: z.int().optional(),
      column: z.int().optional(),
      source_url: text.optional(),
    }),
  },
  network_request: {
    category: "network",
    about: "A page has sent a request. Headers: a short list of them.",
    data: z.object({
      ...request,
      document_url: text.optional(),
      headers: z.record(z.string(), text).optional(),
      initiator_type: text.optional(),
      is_redirect: z.boolean().optional(),
      redirect_url: text.optional(),
    }),
  },
  network_response: {
    category: "network",
    about: "The head of an answer has arrived. Headers: a short list of them.",
    data: z.object({
      ...request,
      status: z.int().optional(),
      status_text: text.optional(),
      mime_type: text.optional(),
      headers: z.record(z.string(), text).optional(),
      from_cache: z.boolean().optional(),
      duration_ms: z.number().min(0).optional().describe("From the request to the head of the answer."),
    }),
  },
  network_loading_finished: {
    category: "network",
    about: "An answer has arrived whole. The public SDK does not know this type.",
    data: z.object({
      ...request,
      encoded_bytes: z.number().min(0).optional().describe("Bytes on the wire."),
      duration_ms: z.number().min(0).optional().describe("From the request to the last byte."),
    }),
  },
  network_loading_failed: {
    category: "network",
    about: "A request has failed or was cancelled.",
    data: z.object({
      ...request,
      error_text: text.optional(),
      canceled: z.boolean().optional(),
      duration_ms: z.number().min(0).optional(),
    }),
  },
  network_idle: {
    category: "network",
    about: "No request of a page has been under way for 500 ms.",
    data: z.object(context),
  },
  proxy_error: {
    category: "network",
    about: "A request did not pass the way out of the browser: its network rules or its proxy have refused it.",
    data: z.object({
      ...request,
      code: z
        .enum(["network_policy_denied", "proxy_unavailable", "upstream_connect_failed", "unknown"])
        .describe("`unknown` for a request to https that failed: Chromium does not tell why."),
      status: z.int().describe("403 for network_policy_denied, else 502."),
    }),
  },
  page_navigation: {
    category: "page",
    about: "A frame has another document.",
    data: z.object({ ...context, parent_frame_id: text.optional() }),
  },
  page_dom_content_loaded: { category: "page", about: "A page's document is parsed.", data: z.object(context) },
  page_load: { category: "page", about: "A page has loaded.", data: z.object(context) },
  page_tab_opened: {
    category: "page",
    about: "A tab or a window was opened.",
    data: z.object({ ...context, opener_id: text.optional(), title: text.optional() }),
  },
  page_crashed: {
    category: "page",
    about: "The process of a page has crashed; the browser goes on.",
    data: z.object({ ...context, error_code: z.int().optional() }),
  },
  page_lcp: {
    category: "page",
    about: "The largest content of a page so far is painted (Largest Contentful Paint).",
    data: z.object({
      ...context,
      source_frame_id: text.optional(),
      time: z.number().optional().describe("Unix milliseconds."),
      lcp_details: z
        .object({
          render_time: z.number(),
          load_time: z.number(),
          size: z.number().describe("Of its visible area, square pixels."),
          element_id: text.optional(),
          url: text.optional().describe("Of the image or video."),
        })
        .optional(),
    }),
  },
  page_layout_shift: {
    category: "page",
    about: "Content of a page has moved by itself (Cumulative Layout Shift).",
    data: z.object({
      ...context,
      source_frame_id: text.optional(),
      time: z.number().optional().describe("Unix milliseconds."),
      duration: z.number().optional(),
      layout_shift_details: z
        .object({
          value: z.number().describe("The share of this shift."),
          had_recent_input: z.boolean().describe("Whether input of the user came within 500 ms before it."),
        })
        .optional(),
    }),
  },
  page_layout_settled: {
    category: "page",
    about: "A page has loaded, and nothing in it has moved for a second.",
    data: z.object(context),
  },
  page_navigation_settled: {
    category: "page",
    about: "The layout of a page that was gone to has settled.",
    data: z.object(context),
  },
  interaction_click: {
    category: "interaction",
    about: "A click in a page.",
    data: z.object({ ...element, x: z.number().optional(), y: z.number().optional() }),
  },
  interaction_key: {
    category: "interaction",
    about: "A key was pressed in a page. Only keys that type nothing have a name.",
    data: z.object({ ...element, key: text.optional() }),
  },
  interaction_scroll_settled: {
    category: "interaction",
    about: "A page was scrolled, and stands still.",
    data: z.object({ ...context, to_x: z.number().optional(), to_y: z.number().optional() }),
  },
  cdp_command: {
    category: "control",
    about: "A client has sent a CDP command. The public SDK does not know this type.",
    data: z.object({ method: text }),
  },
  api_call: {
    category: "control",
    about: "The holder has driven the browser by a call of the API.",
    data: call,
  },
  cdp_connect: { category: "connection", about: "A CDP client has connected.", data: z.object({}) },
  cdp_disconnect: {
    category: "connection",
    about: "A CDP client has gone. Messages are counted only while `control` is captured.",
    data: z.object({ duration_ms: count, message_count: count.optional(), reason: text }),
  },
  webdriver_connect: {
    category: "connection",
    about:
      "A WebDriver client has connected: by BiDi, or a session over HTTP was made. The public SDK does not know this type.",
    data: z.object({}),
  },
  webdriver_disconnect: {
    category: "connection",
    about: "A WebDriver client has gone. The public SDK does not know this type.",
    data: z.object({ duration_ms: count }),
  },
  live_view_connect: {
    category: "connection",
    about: "Somebody watches the live view.",
    data: z.object({ session_id: text }),
  },
  live_view_disconnect: {
    category: "connection",
    about: "A viewer has gone.",
    data: z.object({ session_id: text, duration_ms: count }),
  },
  captcha_detected: {
    category: "captcha",
    about: "A page shows a captcha. Nothing here solves one. The public SDK does not know this type.",
    data: z.object({
      ...context,
      captcha_type: z.enum(["hcaptcha", "recaptcha", "turnstile", "geetest", "other"]),
    }),
  },
  platform_api_call: {
    category: "platform",
    about: "The holder has made another call of the API about the session, such as for its files.",
    data: call,
  },
  platform_browser_changed: {
    category: "platform",
    about: "The browser was changed for its holder. The public SDK does not know this type.",
    data: z.object({ outcome: text, restarted: z.boolean() }),
  },
  platform_fill_started: {
    category: "platform",
    about: "A vault fills a page. The public SDK does not know this type.",
    data: z.object({}),
  },
  platform_fill_ended: {
    category: "platform",
    about: "A fill has ended. The public SDK does not know this type.",
    data: z.object({ duration_ms: count }),
  },
  system_usage: {
    category: "system",
    about: "Memory and processor of the browser's processes. The public SDK does not know this type.",
    data: z.object({ memory_bytes: count, cpu_seconds: z.number().min(0), processes: count }),
  },
  service_crashed: {
    category: "system",
    about: "The browser has ended by itself.",
    data: z.object({ service_name: text, phase: z.enum(["startup", "running", "gave_up"]) }),
  },
  monitor_screenshot: {
    category: "screenshot",
    about: "A picture of the tab that is shown. None while a vault fills, and none of a page that was filled.",
    data: z.object({
      ...context,
      png: z.string().max(maxEventBytes).optional().describe("In base64; left out where it is too large."),
    }),
  },
  monitor_init_failed: {
    category: "monitor",
    about: "The browser can't be watched.",
    data: z.object({ step: text.optional() }),
  },
  monitor_reconnect_failed: {
    category: "monitor",
    about: "The browser is not watched any more.",
    data: z.object({ reason: z.enum(["reconnect_exhausted"]).optional() }),
  },
  monitor_disconnected: {
    category: "monitor",
    about: "The browser is not watched for a while.",
    data: z.object({ reason: text.optional() }),
  },
  monitor_reconnected: {
    category: "monitor",
    about: "The browser is watched again.",
    data: z.object({ reconnect_duration_ms: count.optional() }),
  },
  monitor_events_dropped: {
    category: "monitor",
    about:
      "Events are missing here: too many came at once, there was no room for them, or what the browser told was too large. The public SDK does not know this type.",
    data: z.object({
      count: count.describe("How many."),
      reason: z.enum(["too_many", "too_large", "unreadable", "buffer_full", "storage_full"]),
    }),
  },
} as const satisfies Record<string, { category: string; about: string; data: z.ZodObject }>;

export type TelemetryEventType = keyof typeof telemetryEventTypes;
export type TelemetryEventData<Type extends TelemetryEventType> = z.input<(typeof telemetryEventTypes)[Type]["data"]>;

/**
 * Categories of events: the settings' categories, and `monitor`, which tells of telemetry itself and can't be turned
 * off.
 */
export const eventCategories = [...telemetryCategories, "monitor"] as const;

const Source = z.object({
  kind: z.enum(["cdp", "kernel_api", "extension", "local_process"]).describe("What has produced the event."),
  event: text.optional().describe("Its name there, e.g. a CDP event."),
  metadata: z.record(z.string(), text).optional(),
});

const eventOf = (type: string, { category, about, data }: { category: string; about: string; data: z.ZodObject }) =>
  z
    .object({
      type: z.literal(type),
      category: z.literal(category),
      source: Source,
      ts: z.int().min(0).describe("Unix microseconds."),
      data: data.optional(),
      truncated: z.boolean().optional().describe("Texts of the data were cut."),
    })
    .describe(about);

const [first, ...others] = Object.entries(telemetryEventTypes).map(([type, about]) => eventOf(type, about));
if (!first) throw new Error("there are types of events");

/** One event; `type` tells which. */
export const TelemetryEvent = z.discriminatedUnion("type", [first, ...others]);
export type TelemetryEvent = z.infer<typeof TelemetryEvent>;

/** An event and its number: from 1, rising by one within a session. Numbers that are missing were dropped. */
export const TelemetryRecord = z.object({ seq: z.int().min(1), event: TelemetryEvent });
export type TelemetryRecord = z.infer<typeof TelemetryRecord>;
