import type { CdpConnection } from "../../cdp/cdp-connection.ts";
import type { CdpEvents } from "../../cdp/cdp-types.ts";
import type { Emit } from "./recorder.ts";

/** A page or a frame of another process that is attached. `url`: of its document, as far as the browser has told. */
export type Tab = { sessionId: string; targetId: string; type: string; url: string };

/** What a source works with. */
export type SourceDeps = { cdp: CdpConnection; emit: Emit };

/** Handlers by CDP event. Chromium keeps to its protocol, whose types say what each event has. */
export type Handlers = { [Name in keyof CdpEvents]?: (params: CdpEvents[Name][0], tab: Tab) => void };

/** One category of events, made of what Chromium tells of attached pages. */
export type Source = {
  /** Has an attached page tell what this source needs. */
  enable(tab: Tab): void;
  handlers: Handlers;
  /** A page is gone. */
  forget?(tab: Tab): void;
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

/** Where an event of a tab happened. */
export const contextOf = ({ targetId, sessionId, type, url }: Tab) => ({
  target_id: targetId,
  session_id: sessionId,
  target_type: type === "page" ? ("page" as const) : ("other" as const),
  url: shownUrl(url),
});
