import { doubling, retry } from "../../platform/base/retry.ts";
import { type CdpConnection, type CdpConnectionOptions, connectCdp } from "../../platform/cdp/cdp-connection.ts";

const connectTimeoutMs = 5000;

/** How long a new Chromium's DevTools may refuse connections, ms. */
const refusalMs = 5000;

/**
 * Where Chromium's DevTools are: a port on this machine's loopback, or the socket that leads to the loopback of
 * Chromium's own namespace (agent/namespace.ts). `path`: of the browser's WebSocket.
 */
export type DevToolsPlace = { at: { host: string; port: number } | { path: string }; path: string };

/** The place of the DevTools at this URL, which Chromium has printed. `socket`: of the namespace. */
export const placeOf = (url: string, socket: string | undefined): DevToolsPlace => {
  const { hostname, port, pathname } = new URL(url);
  return { at: socket === undefined ? { host: hostname, port: Number(port) } : { path: socket }, path: pathname };
};

/** The place as a URL that `ws` takes. */
export const devToolsUrl = ({ at, path }: DevToolsPlace): string =>
  "port" in at ? `ws://${at.host}:${at.port}${path}` : `ws+unix:${at.path}:${path}`;

/**
 * The agent's own connection to the browser, open until either side closes it. Rejects when Chromium refuses it or does
 * not accept it in time; the pod's termination message shows why.
 */
export const connectDevTools = async (place: DevToolsPlace, options?: CdpConnectionOptions): Promise<CdpConnection> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), connectTimeoutMs);
  try {
    return await connectCdp({ url: devToolsUrl(place), headers: {} }, late.signal, options);
  } catch (cause) {
    const why = late.signal.aborted
      ? `did not accept a connection within ${connectTimeoutMs} ms`
      : "refused the connection";
    throw new Error(`DevTools ${why}`, { cause });
  } finally {
    clearTimeout(timer);
  }
};

/**
 * The first connection to a Chromium that has printed where its DevTools are. The forwarder of its namespace starts
 * beside it, and may be later: until then connections are refused.
 */
export const awaitDevTools = (place: DevToolsPlace, signal: AbortSignal): Promise<CdpConnection> =>
  retry(() => connectDevTools(place), {
    isCurable: () => true,
    pauseMs: doubling(20, 500),
    withinMs: refusalMs,
    signal,
  });
