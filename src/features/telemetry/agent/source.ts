import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import type { CdpEvents } from "../../../platform/cdp/cdp-types.ts";
import type { Emit } from "./recorder.ts";

/**
 * A page, a frame of another process or a worker that is attached. `url`: of its document or script, as far as the
 * browser has told.
 */
export type Tab = { sessionId: string; targetId: string; type: string; url: string };

/** Types of targets that run scripts without a document. */
export const workerTypes = ["worker", "shared_worker", "service_worker"] as const;

/** Whether a target is one of a document. */
export const hasDocument = ({ type }: Pick<Tab, "type">): boolean => !workerTypes.some((one) => one === type);

/** What a source works with. */
export type SourceDeps = { cdp: CdpConnection; emit: Emit };

/** Handlers by CDP event. Chromium keeps to its protocol, whose types say what each event has. */
export type Handlers = { [Name in keyof CdpEvents]?: (params: CdpEvents[Name][0], tab: Tab) => void };

/** One category of events, made of what Chromium tells of attached pages. */
export type Source = {
  /** Also of workers; else of pages and frames alone. */
  ofWorkers?: true;
  /** Has an attached page tell what this source needs. */
  enable(tab: Tab): void;
  handlers: Handlers;
  /** A page is gone. */
  forget?(tab: Tab): void;
  /** Nothing more is captured: its timers must end. */
  stop?(): void;
};

/** Longest URL of an event that is no address of the network, characters: `data:` URLs are documents. */
const maxOpaqueUrl = 256;

/** A URL as events have it: without login. */
export const shownUrl = (url: string): string => {
  const parsed = URL.parse(url);
  if (!parsed) return url.slice(0, maxOpaqueUrl);
  if (parsed.username === "" && parsed.password === "")
    return /^https?:$|^wss?:$/.test(parsed.protocol) ? url : url.slice(0, maxOpaqueUrl);
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
};

/** Types that events name; the public SDK has none for a dedicated worker. */
const toldTypes = ["page", "shared_worker", "service_worker"] as const;

/** Where an event of a tab happened. */
export const contextOf = ({ targetId, sessionId, type, url }: Tab) => ({
  target_id: targetId,
  session_id: sessionId,
  target_type: toldTypes.find((one) => one === type) ?? ("other" as const),
  url: shownUrl(url),
});
