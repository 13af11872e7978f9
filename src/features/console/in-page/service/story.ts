/** A session's story: what happened, by lanes of one axis, in words. No rule here reads the clock. */
import type { Session } from "../../../../core/model/sessions/session-wire.ts";
import type { TelemetryEventData, TelemetryEventType, TelemetryRecord } from "../../../telemetry/telemetry-event.ts";
import { endedBecause } from "../parts/session-columns.tsx";
import { span } from "../parts/time.tsx";

/** The lanes of the axis, from above. */
export const lanes = ["Session", "Clients", "Pages", "Requests", "Console", "Vault", "Browser", "Log"] as const;
export type Lane = (typeof lanes)[number];

/** `at`: ms since 1970. */
export type Happening = { key: string; at: number; lane: Lane; tone: "good" | "warn" | "bad" | "quiet"; text: string };

type Words = Pick<Happening, "lane" | "tone" | "text">;

const lasted = (ms: number | undefined): string => (ms === undefined ? "" : ` after ${span(ms)}`);

type Said = { [Type in TelemetryEventType]?: (data: TelemetryEventData<Type>) => Words | undefined };

const failed = (status = 0): boolean => status >= 400;

/** What is told of an event. A type that is not here is no part of the story. */
const words: Said = {
  cdp_connect: () => ({ lane: "Clients", tone: "good", text: "A client connected over CDP" }),
  cdp_disconnect: ({ duration_ms, reason }) => ({
    ...{ lane: "Clients", tone: "quiet" },
    text: `A CDP client went${lasted(duration_ms)}: ${reason}`,
  }),
  webdriver_connect: () => ({ lane: "Clients", tone: "good", text: "A client connected over WebDriver BiDi" }),
  webdriver_disconnect: ({ duration_ms }) => ({
    ...{ lane: "Clients", tone: "quiet" },
    text: `A WebDriver client went${lasted(duration_ms)}`,
  }),
  live_view_connect: () => ({ lane: "Clients", tone: "good", text: "Somebody opened the live view" }),
  live_view_disconnect: ({ duration_ms }) => ({
    ...{ lane: "Clients", tone: "quiet" },
    text: `A viewer went${lasted(duration_ms)}`,
  }),
  page_navigation: ({ url = "", parent_frame_id }) =>
    parent_frame_id === undefined ? { lane: "Pages", tone: "good", text: `Went to ${url}` } : undefined,
  page_tab_opened: ({ url = "" }) => ({ lane: "Pages", tone: "quiet", text: `Opened a tab ${url}` }),
  page_load: ({ url = "" }) => ({ lane: "Pages", tone: "quiet", text: `Loaded ${url}` }),
  console_error: ({ text }) => ({ lane: "Console", tone: "bad", text }),
  console_log: ({ text = "", level = "log" }) => ({ lane: "Console", tone: "quiet", text: `${level}: ${text}` }),
  network_response: ({ status, url = "" }) =>
    failed(status) ? { lane: "Requests", tone: "warn", text: `${status} ${url}` } : undefined,
  network_loading_failed: ({ error_text = "failed", url = "", canceled }) => ({
    ...{ lane: "Requests", tone: canceled ? "quiet" : "bad" },
    text: `${error_text} ${url}`,
  }),
  captcha_detected: ({ captcha_type, url = "" }) => ({
    lane: "Pages",
    tone: "warn",
    text: `A captcha (${captcha_type}) at ${url}`,
  }),
  platform_browser_changed: ({ outcome, restarted }) => ({
    ...{ lane: "Browser", tone: "quiet" },
    text: `Its holder changed the browser: ${outcome}${restarted ? "; Chromium started anew" : ""}`,
  }),
  platform_fill_started: () => ({ lane: "Vault", tone: "good", text: "A vault began to fill the page" }),
  platform_fill_ended: ({ duration_ms }) => ({
    lane: "Vault",
    tone: "good",
    text: `The fill ended${lasted(duration_ms)}`,
  }),
  page_crashed: ({ url = "" }) => ({ lane: "Browser", tone: "bad", text: `The page crashed: ${url}` }),
  service_crashed: ({ service_name, phase }) => ({
    lane: "Browser",
    tone: "bad",
    text: `${service_name} crashed (${phase})`,
  }),
  monitor_init_failed: () => ({ lane: "Browser", tone: "warn", text: "The browser can't be watched" }),
  monitor_disconnected: ({ reason = "" }) => ({
    lane: "Browser",
    tone: "warn",
    text: `Not watched for a while: ${reason}`,
  }),
  monitor_reconnected: () => ({ lane: "Browser", tone: "quiet", text: "Watched again" }),
  monitor_events_dropped: ({ count, reason }) => ({
    lane: "Browser",
    tone: "warn",
    text: `${count} events are missing here: ${reason}`,
  }),
};

const happeningOf = ({ seq, event }: TelemetryRecord): Happening[] => {
  // Each function gets the data of its own type.
  const told = (words[event.type as TelemetryEventType] as ((data: unknown) => Words | undefined) | undefined)?.(
    event.data,
  );
  return told ? [{ ...told, key: String(seq), at: event.ts / 1000 }] : [];
};

/** A line of a log. `of`: which; `at`: ms since 1970. */
export type LogLine = { of: "chromium" | "agent"; at: number; text: string };

const lineOf = ({ of, at, text }: LogLine, index: number): Happening => ({
  ...{ key: `${of} ${index}`, at, lane: "Log", tone: "quiet", text: `${of}: ${text}` },
});

/** A caller that got its browser at once has not waited. */
const waitedMs = ({ requested_at, created_at }: Session): number =>
  requested_at === undefined ? 0 : Math.max(0, Date.parse(created_at) - Date.parse(requested_at));

const noticeableMs = 100;

const waitedFor = (session: Session): string => {
  const ms = waitedMs(session);
  if (ms < noticeableMs) return " at once";
  return ` after waiting ${ms < 1000 ? `${ms} ms` : span(ms)}`;
};

/** When the story begins: when its caller asked, ms since 1970. */
export const storyBegin = (session: Session): number => Date.parse(session.created_at) - waitedMs(session);

const asked = (session: Session): Happening[] =>
  waitedMs(session) < noticeableMs
    ? []
    : [{ key: "asked", at: storyBegin(session), lane: "Session", tone: "quiet", text: "Its caller asked, and waited" }];

/** The story: of the session itself, of its events and of its logs, the oldest first. */
export const storyOf = (
  session: Session,
  records: readonly TelemetryRecord[],
  lines: readonly LogLine[],
): Happening[] => {
  const at = Date.parse(session.created_at);
  const begin: Happening = {
    ...{ key: "begin", at, lane: "Session", tone: "good" },
    text: session.pool
      ? `Granted a browser of ${session.pool.name ?? session.pool.id}${waitedFor(session)}`
      : "Its own browser was started",
  };
  const { deleted_at } = session;
  const end: Happening[] = deleted_at
    ? [
        {
          key: "end",
          at: Date.parse(deleted_at),
          lane: "Session",
          tone: "quiet",
          text: `Ended: ${endedBecause(session)}`,
        },
      ]
    : [];
  return [...asked(session), begin, ...records.flatMap(happeningOf), ...lines.map(lineOf), ...end].sort(
    (a, b) => a.at - b.at,
  );
};

/** A look at what the browser used. `cpu`: processors in use since the look before. */
type Usage = { at: number; memoryMb: number; cpu: number };

/** What the browser has used, by its events. */
export const usageOf = (records: readonly TelemetryRecord[]): Usage[] => {
  const usage: Usage[] = [];
  let before: { at: number; cpuSeconds: number } | undefined;
  for (const { event } of records) {
    if (event.type !== "system_usage") continue;
    const at = event.ts / 1000;
    // The type says so; the union of all events forgets it.
    const { memory_bytes, cpu_seconds } = event.data as TelemetryEventData<"system_usage">;
    const cpu =
      before && at > before.at ? Math.max(0, ((cpu_seconds - before.cpuSeconds) * 1000) / (at - before.at)) : 0;
    usage.push({ at, memoryMb: Math.round(memory_bytes / 2 ** 20), cpu: Math.round(cpu * 100) / 100 });
    before = { at, cpuSeconds: cpu_seconds };
  }
  return usage;
};
