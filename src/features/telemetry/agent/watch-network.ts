/**
 * Requests of pages and workers, with sizes and times. No bodies; of the headers those that say nothing of who asks.
 */

import { type RefusedBy, refusedByHeader } from "../../../platform/addresses/network-filter.ts";
import type { Protocol } from "../../../platform/cdp/cdp-types.ts";
import { noBodies, tell } from "../../../platform/cdp/commands.ts";
import { contextOf, type Source, type SourceDeps, shownUrl, type Tab } from "./source.ts";

/** Headers that events have. None carries a login, a cookie or what a page made up. */
const toldHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "age",
  "cache-control",
  "content-encoding",
  "content-language",
  "content-length",
  "content-type",
  "date",
  "expires",
  "last-modified",
  "retry-after",
  "server",
  "server-timing",
  "transfer-encoding",
  "user-agent",
  "vary",
  "via",
]);

/** Requests under way that are remembered for one page; a page that has more open gets events without times. */
const maxOpen = 2000;

const headersOf = (headers: Protocol.Network.Headers): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      toldHeaders.has(name.toLowerCase()) ? [[name.toLowerCase(), String(value)]] : [],
    ),
  );

/** An answer's head. */
type Answer = Pick<
  Protocol.Network.ResponseReceivedEvent,
  "requestId" | "response" | "timestamp" | "frameId" | "loaderId"
>;

/** What Chromium says of a request that its proxy, which is the browser's way out here, does not let through. */
const proxyFailures = ["net::ERR_TUNNEL_CONNECTION_FAILED", "net::ERR_PROXY_CONNECTION_FAILED"];

/** What the way out says of a request that it refuses, in the words of the public client. */
const proxyCodes = {
  rules: "network_policy_denied",
  proxy: "proxy_unavailable",
  host: "upstream_connect_failed",
} as const satisfies Record<RefusedBy, string>;

/** How the way out has refused a request; undefined for an answer of the site. A tunnel carries what is the site's own. */
const refusalOf = ({ url, headers, status }: Protocol.Network.Response) => {
  const by = url.startsWith("http:") ? headers[refusedByHeader] : undefined;
  return by !== undefined && Object.hasOwn(proxyCodes, by) ? { code: proxyCodes[by as RefusedBy], status } : undefined;
};

type Open = { atSeconds: number; url: string; method: string; resourceType: string };

/** Makes the events of the category `network`. */
export const watchNetwork = ({ cdp, emit }: SourceDeps): Source => {
  const tabs = new Map<string, Map<string, Open>>();
  const openOf = ({ sessionId }: Tab): Map<string, Open> => {
    const open = tabs.get(sessionId) ?? new Map<string, Open>();
    tabs.set(sessionId, open);
    return open;
  };
  const requestOf = (tab: Tab, id: string, open: Open | undefined) => ({
    ...contextOf(tab),
    request_id: id,
    ...(open && { url: shownUrl(open.url), method: open.method, resource_type: open.resourceType }),
  });
  const sinceMs = (open: Open | undefined, atSeconds: number) =>
    open && { duration_ms: Math.max(0, Math.round((atSeconds - open.atSeconds) * 1e6) / 1e3) };

  const told = (tab: Tab, { requestId, response, timestamp, frameId, loaderId }: Answer, event: string): void => {
    const open = openOf(tab).get(requestId);
    const data = {
      ...requestOf(tab, requestId, open),
      url: shownUrl(response.url),
      frame_id: frameId,
      loader_id: loaderId,
      status: response.status,
      status_text: response.statusText,
      mime_type: response.mimeType,
      headers: headersOf(response.headers),
      from_cache: response.fromDiskCache === true || response.fromPrefetchCache === true,
      ...sinceMs(open, timestamp),
    };
    emit("network_response", data, { kind: "cdp", event });
    const refused = refusalOf(response);
    if (refused) emit("proxy_error", { ...requestOf(tab, requestId, open), ...refused }, { kind: "cdp", event });
  };

  return {
    ofWorkers: true,
    enable: ({ sessionId }) => tell(cdp.send("Network.enable", noBodies, { sessionId })),
    forget: ({ sessionId }) => void tabs.delete(sessionId),
    handlers: {
      "Network.requestWillBeSent": (params, tab) => {
        const {
          requestId,
          request,
          frameId,
          loaderId,
          documentURL,
          initiator,
          redirectResponse,
          type = "Other",
        } = params;
        const open = openOf(tab);
        const { url, method } = request;
        // Chromium tells of an answer that leads elsewhere with the next request alone.
        if (redirectResponse) told(tab, { ...params, response: redirectResponse }, "Network.requestWillBeSent");
        if (open.size < maxOpen || open.has(requestId))
          open.set(requestId, { atSeconds: params.timestamp, url, method, resourceType: type });
        emit(
          "network_request",
          {
            ...contextOf(tab),
            url: shownUrl(url),
            request_id: requestId,
            resource_type: type,
            method,
            frame_id: frameId,
            loader_id: loaderId,
            document_url: shownUrl(documentURL),
            headers: headersOf(request.headers),
            initiator_type: initiator.type,
            ...(redirectResponse && { is_redirect: true, redirect_url: shownUrl(redirectResponse.url) }),
          },
          { kind: "cdp", event: "Network.requestWillBeSent" },
        );
      },
      "Network.responseReceived": (params, tab) => told(tab, params, "Network.responseReceived"),
      "Network.loadingFinished": ({ requestId, encodedDataLength, timestamp }, tab) => {
        const open = openOf(tab).get(requestId);
        openOf(tab).delete(requestId);
        emit(
          "network_loading_finished",
          {
            ...requestOf(tab, requestId, open),
            encoded_bytes: Math.max(0, encodedDataLength),
            ...sinceMs(open, timestamp),
          },
          { kind: "cdp", event: "Network.loadingFinished" },
        );
      },
      "Network.loadingFailed": ({ requestId, errorText, canceled = false, timestamp, type }, tab) => {
        const open = openOf(tab).get(requestId);
        openOf(tab).delete(requestId);
        const failed = { ...requestOf(tab, requestId, open), resource_type: type };
        const source = { kind: "cdp", event: "Network.loadingFailed" } as const;
        const more = { error_text: errorText, canceled, ...sinceMs(open, timestamp) };
        emit("network_loading_failed", { ...failed, ...more }, source);
        if (proxyFailures.includes(errorText)) emit("proxy_error", { ...failed, code: "unknown", status: 502 }, source);
      },
    },
  };
};
