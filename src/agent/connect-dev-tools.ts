import { type CdpConnection, connectCdp } from "../cdp/cdp-connection.ts";

const connectTimeoutMs = 5000;

/**
 * The agent's own connection to the browser, open until either side closes it. Rejects when Chromium refuses it or does
 * not accept it in time; the pod's termination message shows why.
 */
export const connectDevTools = async (url: string): Promise<CdpConnection> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), connectTimeoutMs);
  try {
    return await connectCdp({ url, headers: {} }, late.signal);
  } catch (cause) {
    const why = late.signal.aborted
      ? `did not accept a connection within ${connectTimeoutMs} ms`
      : "refused the connection";
    throw new Error(`DevTools ${why}`, { cause });
  } finally {
    clearTimeout(timer);
  }
};
