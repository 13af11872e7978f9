/**
 * One request of the browser's own: with its cookies, its connections, its proxy and its wall, and as a page of the
 * same site sends it.
 *
 *   a tab of our own ──► the site's address, answered here with an empty page ──► fetch, which is paused:
 *        its headers are the holder's ──► a redirect: the same at the next site ──► else status, headers and body
 *
 * A page that only pretends to be of another site would send no cookies with SameSite, and be subject to CORS.
 */
import type { Protocol } from "devtools-protocol";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { withOwnPage } from "../../../core/agent/own-page.ts";
import { awaitWith } from "../../../platform/base/retry.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { noBodies, tell } from "../../../platform/cdp/commands.ts";
import { type CurlRequest, type CurlResponse, mostResponseBytes } from "../calls.ts";

const commandMs = 5000;

type Paused = Protocol.Fetch.RequestPausedEvent;

const redirects = [301, 302, 303, 307, 308];
const mostRedirects = 20;

/** The browser's headers with the holder's in their place. */
const mergedHeaders = (sent: Record<string, string>, own: Record<string, string>): Protocol.Fetch.HeaderEntry[] => {
  const replaced = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = Object.entries(sent).filter(([name]) => !replaced.has(name.toLowerCase()));
  return [...kept, ...Object.entries(own)].map(([name, value]) => ({ name, value }));
};

const headersOf = ({ responseHeaders = [] }: Paused): Record<string, string[]> => {
  const headers: Record<string, string[]> = Object.create(null);
  for (const { name, value } of responseHeaders) {
    const key = name.toLowerCase();
    headers[key] = [...(headers[key] ?? []), value];
  }
  return headers;
};

/** The tab of one request. `sessionId`: of the connection that was made for it. */
type Tab = { cdp: CdpConnection; sessionId: string };

const readBody = async ({ cdp, sessionId }: Tab, { requestId }: Paused): Promise<Buffer> => {
  const call = { sessionId, timeoutMs: commandMs };
  const { stream: handle } = await cdp.send("Fetch.takeResponseBodyAsStream", { requestId }, call);
  const parts: Buffer[] = [];
  let length = 0;
  for (;;) {
    const { data, base64Encoded, eof } = await cdp.send("IO.read", { handle, size: 256 * 1024 }, { sessionId });
    const part = Buffer.from(data, base64Encoded ? "base64" : "utf8");
    parts.push(part);
    length += part.length;
    if (length > mostResponseBytes)
      throw new CallRefused("payload_too_large", `the response has more than ${mostResponseBytes / 1024 / 1024} MiB`);
    if (eof) return Buffer.concat(parts);
  }
};

/** What the page runs. Headers that a page may not set are added to the paused request. */
const fetching = ({ url, method = "GET", body }: CurlRequest): string => {
  const options = { method, body, credentials: "include", cache: "no-store", redirect: "manual" };
  return `void fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).catch(() => undefined)`;
};

/** The cookies that an answer sets: its other headers are told without them. */
const cookiesIn = ({ headers }: Protocol.Network.ResponseReceivedExtraInfoEvent): string[] => {
  const [, cookies] = Object.entries(headers).find(([name]) => name.toLowerCase() === "set-cookie") ?? [];
  return typeof cookies === "string" ? cookies.split("\n") : [];
};

/** One hop: `at` is where it redirects to. */
type Hop = { at: string | undefined; answer: Omit<CurlResponse, "duration_ms"> };

/** Sends requests from a tab that gets nothing else. Call it once for a tab. */
const createHops = (tab: Tab): ((request: CurlRequest) => Promise<Hop>) => {
  const { cdp, sessionId } = tab;
  const call = { sessionId, timeoutMs: commandMs };
  /** By request. */
  const cookies = new Map<string, string[]>();
  let present: { request: CurlRequest; result: PromiseWithResolvers<Hop> } | undefined;

  const answerOf = async (paused: Paused, request: CurlRequest): Promise<Hop> => {
    const { networkId = "", responseStatusCode: status = 0 } = paused;
    const headers = headersOf(paused);
    const at = redirects.includes(status) ? headers.location?.[0] : undefined;
    const isEmpty = at !== undefined || request.method === "HEAD";
    const bytes = isEmpty ? Buffer.alloc(0) : await readBody(tab, paused);
    const body = bytes.toString(request.response_encoding === "base64" ? "base64" : "utf8");
    const set = cookies.get(networkId) ?? [];
    return { at, answer: { status, headers: { ...headers, ...(set.length > 0 && { "set-cookie": set }) }, body } };
  };
  /** What the tab asks for by itself, its page and the site's icon; the next navigation may have ended it. */
  const answerTab = ({ requestId, resourceType }: Paused): void => {
    const page = { requestId, responseCode: 200, responseHeaders: [{ name: "content-type", value: "text/html" }] };
    if (resourceType === "Document") tell(cdp.send("Fetch.fulfillRequest", { ...page, body: "" }, call));
    else tell(cdp.send("Fetch.failRequest", { requestId, errorReason: "Aborted" }, call));
  };
  const onHop = async (paused: Paused, { request, result }: NonNullable<typeof present>): Promise<void> => {
    const { requestId, responseErrorReason, responseStatusCode } = paused;
    if (responseErrorReason !== undefined)
      throw new CallRefused("conflict", `the browser could not get it: ${responseErrorReason}`);
    if (responseStatusCode !== undefined) return result.resolve(await answerOf(paused, request));
    const headers = mergedHeaders(paused.request.headers, request.headers ?? {});
    return cdp.send("Fetch.continueRequest", { requestId, headers }, call);
  };
  const onPaused = (paused: Paused): void => {
    const isFetch = paused.resourceType === "Fetch" || paused.resourceType === "XHR";
    const hop = isFetch ? present : undefined;
    if (hop) onHop(paused, hop).catch(hop.result.reject);
    else answerTab(paused);
  };
  cdp.onEvent(({ method, params, sessionId: of }) => {
    if (of !== sessionId) return;
    if (method === "Fetch.requestPaused") onPaused(params as Paused);
    if (method !== "Network.responseReceivedExtraInfo") return;
    const told = params as Protocol.Network.ResponseReceivedExtraInfoEvent;
    cookies.set(told.requestId, cookiesIn(told));
  });
  return async (request) => {
    const result = Promise.withResolvers<Hop>();
    result.promise.catch(() => undefined);
    present = undefined;
    await cdp.send("Page.navigate", { url: `${new URL(request.url).origin}/` }, call);
    present = { request, result };
    await cdp.send("Runtime.evaluate", { expression: fetching(request) }, call);
    return result.promise;
  };
};

/** The request that follows a redirect, as Fetch has it; undefined for a place that is none of the web. */
const nextRequest = (request: CurlRequest, { at, answer: { status } }: Hop): CurlRequest | undefined => {
  const next = URL.parse(at ?? "", request.url);
  if (!next || !["http:", "https:"].includes(next.protocol)) return undefined;
  const isPost = request.method === "POST" && (status === 301 || status === 302);
  const becomesGet = isPost || (status === 303 && request.method !== "HEAD");
  const isAway = next.origin !== new URL(request.url).origin;
  const kept = Object.entries(request.headers ?? {}).filter(
    ([name]) => !(isAway && ["authorization", "cookie"].includes(name.toLowerCase())),
  );
  const { body, method, ...rest } = request;
  const same = { ...(method && { method }), ...(body !== undefined && { body }) };
  return { ...rest, url: next.href, headers: Object.fromEntries(kept), ...(becomesGet ? {} : same) };
};

const followAll = async (request: CurlRequest, hop: (request: CurlRequest) => Promise<Hop>): Promise<Hop["answer"]> => {
  let now: CurlRequest | undefined = request;
  for (let hops = 0; now && hops <= mostRedirects; hops += 1) {
    const done: Hop = await hop(now);
    if (done.at === undefined) return done.answer;
    now = nextRequest(now, done);
  }
  throw new CallRefused("conflict", now ? `more than ${mostRedirects} redirects` : "a redirect leads out of the web");
};

const openTab = async (cdp: CdpConnection, targetId: string): Promise<Tab> => {
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true }, { timeoutMs: commandMs });
  const call = { sessionId, timeoutMs: commandMs };
  const stages = (["Request", "Response"] as const).map((requestStage) => ({ urlPattern: "*", requestStage }));
  await cdp.send("Network.enable", noBodies, call);
  await cdp.send("Network.setBypassServiceWorker", { bypass: true }, call);
  await cdp.send("Fetch.enable", { patterns: stages }, call);
  return { cdp, sessionId };
};

/**
 * Sends it over a connection that was opened for it. `hidden`: whether the browser can have a tab that nobody sees. The
 * abort of the signal rejects with its reason.
 */
export const sendRequest = async (
  cdp: CdpConnection,
  request: CurlRequest,
  { hidden, signal }: { hidden: boolean; signal: AbortSignal },
): Promise<CurlResponse> => {
  if (request.body !== undefined && ["GET", "HEAD", undefined].includes(request.method))
    throw new CallRefused("bad_request", `body: ${request.method ?? "GET"} has none`);
  const beginMs = performance.now();
  return withOwnPage(cdp, { hidden }, async (targetId) => {
    const answer = openTab(cdp, targetId).then((tab) => followAll(request, createHops(tab)));
    return { ...(await awaitWith(answer, signal)), duration_ms: Math.round(performance.now() - beginMs) };
  });
};
