/**
 * Finds a session's first navigation to a public URL among the events of all pages, and says whether it is one to
 * judge: a plain GET by the browser as it was made, over the network. Whatever its holder has added (cookies, a login,
 * another user agent) makes it none.
 */
import { z } from "zod";
import type { CdpEvent } from "../../../platform/cdp/cdp-connection.ts";
import { type Target, targetOf } from "../rules/target.ts";

/** Requests whose headers are kept until it is known whether they are for a document. */
const maxKept = 64;

const Requested = z.object({
  requestId: z.string(),
  frameId: z.string(),
  type: z.literal("Document"),
  request: z.object({ url: z.string(), method: z.string() }),
  redirectResponse: z.never().optional(),
});

const Sent = z.object({ requestId: z.string(), headers: z.record(z.string(), z.string()) });
type Headers = z.infer<typeof Sent>["headers"];

const Navigated = z.object({ frame: z.object({ id: z.string(), url: z.string() }) });

/** `page`: the session of its page. `frame`: the page's id, which is that of its main frame too. */
export type FirstNavigation = {
  page: string;
  frame: string;
  target: Target;
  /** Whether it was sent as the browser sends it by itself; false also when it was not sent. */
  isPlain(): boolean;
};

/** `ignored`: URLs of start pages. `userAgent`: the browser's own. */
type FirstNavigationOptions = { ignored: readonly string[]; userAgent: string };

type FirstNavigationFinder = {
  /** Tells of a page whose events come from now on. */
  addPage(page: string, frame: string): void;
  /**
   * Takes the next event. Returns the navigation that it begins; `missed`: one had begun before its page was watched.
   */
  take(event: CdpEvent): FirstNavigation | "missed" | undefined;
};

const isPlainRequest = (headers: Headers, userAgent: string): boolean => {
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return !byName.has("cookie") && !byName.has("authorization") && byName.get("user-agent") === userAgent;
};

const hrefOf = (url: string): string | undefined => URL.parse(url)?.href;

/** Nothing is found yet. */
export const createFirstNavigationFinder = ({ ignored, userAgent }: FirstNavigationOptions): FirstNavigationFinder => {
  const startPages = new Set(ignored.map(hrefOf));
  const frames = new Map<string, string>();
  /** Pages that have asked for a document. */
  const asking = new Set<string>();
  /**
   * As they were sent first: what is sent after a redirect has the site's own cookies. They may come before their
   * request.
   */
  const sent = new Map<string, Headers>();
  let found: string | undefined;

  const publicTarget = (url: string): Target | undefined => {
    const target = targetOf(url);
    return typeof target === "string" || startPages.has(hrefOf(url)) ? undefined : target;
  };
  const keep = (key: string, headers: Headers): void => {
    if (sent.has(key) || (found !== undefined && found !== key)) return;
    sent.set(key, headers);
    const [oldest] = sent.keys();
    if (sent.size > maxKept && oldest !== undefined && oldest !== found) sent.delete(oldest);
  };
  const navigated = (page: string, url: string): "missed" | undefined =>
    asking.delete(page) || !publicTarget(url) ? undefined : "missed";

  const requested = (page: string, { requestId, frameId, request }: z.infer<typeof Requested>) => {
    asking.add(page);
    const target = publicTarget(request.url);
    if (!target) return undefined;
    const key = `${page} ${requestId}`;
    found = key;
    return {
      page,
      frame: frameId,
      target,
      isPlain() {
        const headers = sent.get(key);
        return request.method === "GET" && headers !== undefined && isPlainRequest(headers, userAgent);
      },
    };
  };

  const takeOf: Record<
    string,
    ((page: string, params: unknown) => FirstNavigation | "missed" | undefined) | undefined
  > = {
    "Page.frameNavigated": (page, params) => {
      const { data } = Navigated.safeParse(params);
      return data && data.frame.id === frames.get(page) ? navigated(page, data.frame.url) : undefined;
    },
    "Network.requestWillBeSent": (page, params) => {
      const { data } = Requested.safeParse(params);
      return data && data.frameId === frames.get(page) ? requested(page, data) : undefined;
    },
  };

  return {
    addPage: (page, frame) => void frames.set(page, frame),
    take({ method, params, sessionId: page = "" }) {
      const { data } = method === "Network.requestWillBeSentExtraInfo" ? Sent.safeParse(params) : {};
      if (data) keep(`${page} ${data.requestId}`, data.headers);
      return found === undefined ? takeOf[method]?.(page, params) : undefined;
    },
  };
};
