/** Plain HTTP: a request with an absolute URL goes on to its server or to a parent proxy, and the answer comes back. */
import type { Agent, IncomingMessage, ServerResponse } from "node:http";
import type { ParentProxy } from "../../../core/protocol/browser-setup.ts";
import type { Target } from "../../../platform/addresses/host-pattern.ts";
import { canonicalHost, refusedByHeader } from "../../../platform/addresses/network-filter.ts";
import { request as httpRequest } from "../../../platform/net/node-http.ts";
import { credentialsOf } from "../../proxies/rules/proxy-authorization.ts";
import { createPools, type Pool } from "./connection-pools.ts";
import { refuseRequest } from "./refusals.ts";
import { ParentFailed, type WayOut } from "./way-out.ts";

const hopByHop = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Written anew for the next server. `expect`: this proxy has told the browser to go on. */
const ownOfRequest = new Set([...hopByHop, "host", "content-length", "expect"]);
const ownOfAnswer = new Set([...hopByHop, "content-length", refusedByHeader]);

/** Of these, a request without an answer may be sent again. */
const repeatable = new Set(["GET", "HEAD", "OPTIONS"]);

/** The headers, as they were written and in their order, without our own and those that concern one connection. */
const endToEnd = ({ rawHeaders, headers }: IncomingMessage, own: ReadonlySet<string>): string[] => {
  const named = new Set((headers.connection ?? "").toLowerCase().split(/\s*,\s*/));
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    const lower = name.toLowerCase();
    if (!own.has(lower) && !named.has(lower)) passed.push(name, value);
  }
  return passed;
};

/**
 * How long the body is, for the next server. Not a matter of headers that a `Connection` header can take away: a body
 * that has lost its length would be read as further requests.
 */
const framing = ({ headers }: IncomingMessage): string[] => {
  if (headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", headers["transfer-encoding"]];
  return headers["content-length"] === undefined ? [] : ["Content-Length", headers["content-length"]];
};

/** The URL of a request, as a server gets it: without what concerns the browser alone. */
const urlOf = (written: string): URL | null => {
  const url = URL.parse(written);
  if (url) Object.assign(url, { username: "", password: "", hash: "" });
  return url;
};

const targetOf = (url: URL): Target | undefined => {
  const host = canonicalHost(url.hostname);
  return host && { ...host, port: Number(url.port || 80) };
};

type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  to: { host: string; port: number; path: string; headers: string[] };
  hasBody: boolean;
};

class LostOnKeptConnection extends Error {}

/** Sends a request on a connection of this pool. Resolves with its answer, whose body is unread. */
const send = ({ request, response, to, hasBody }: Exchange, agent: Agent): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    if (response.destroyed) return reject(new Error("the browser hung up"));
    const upstream = httpRequest({ ...to, method: request.method ?? "GET", agent, setHost: false });
    upstream.once("response", resolve);
    upstream.on("error", (error) => reject(upstream.reusedSocket ? new LostOnKeptConnection() : error));
    // Chromium changes protocols in tunnels only.
    upstream.once("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("the server changed the protocol"));
    });
    response.once("close", () => {
      upstream.destroy();
      // A server may answer before it has the whole body.
      if (hasBody) request.resume();
    });
    if (hasBody) request.pipe(upstream);
    else upstream.end();
  });

/** Not by `pipeline`, which makes and aborts a signal for each answer: a tenth of what this process did for a page. */
const answerWith = async (answer: IncomingMessage, response: ServerResponse): Promise<void> => {
  const length = answer.headers["content-length"];
  response.sendDate = false;
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", [
    ...endToEnd(answer, ownOfAnswer),
    ...(length === undefined ? [] : ["Content-Length", length]),
  ]);
  // A server of events may send nothing for long, and the page waits for the head of its answer.
  const idle = setImmediate(() => response.flushHeaders());
  try {
    await new Promise<void>((resolve, reject) => {
      answer.once("error", reject);
      response.once("close", resolve);
      answer.pipe(response);
    });
  } finally {
    clearImmediate(idle);
  }
};

type Asked = { request: IncomingMessage; response: ServerResponse; url: URL; target: Target };

const exchangeOf = ({ request, response, url, target }: Asked, parent: ParentProxy | undefined): Exchange => {
  const length = framing(request);
  const credentials = parent && credentialsOf(parent);
  return {
    request,
    response,
    hasBody: length.length > 0,
    to: {
      host: target.host,
      port: target.port,
      // Cut from the whole: `url.search` is empty for a lone question mark, which the server shall see.
      path: parent ? url.href : url.href.slice(url.origin.length),
      headers: [
        "Host",
        url.host,
        ...endToEnd(request, ownOfRequest),
        ...length,
        ...(credentials ? ["Proxy-Authorization", credentials] : []),
      ],
    },
  };
};

/**
 * A server closes a kept connection when it likes, also while a request is on its way there: such a request is sent
 * once more.
 */
const sendBy = ({ kept, fresh }: Pool, exchange: Exchange): Promise<IncomingMessage> => {
  const mayRepeat = !exchange.hasBody && repeatable.has(exchange.request.method ?? "");
  if (!mayRepeat) return send(exchange, fresh);
  return send(exchange, kept).catch((error: unknown) => {
    if (error instanceof LostOnKeptConnection) return send(exchange, fresh);
    throw error;
  });
};

type ForwardRequest = {
  /** Rejects, before or after the answer has begun. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): void;
};

/** The way of plain requests. Connections are kept for further requests. */
export const createForwardRequest = (wayOut: WayOut): ForwardRequest => {
  const pools = createPools(wayOut);
  return {
    async serve(request, response) {
      const url = urlOf(request.url ?? "");
      const target = url?.protocol === "http:" ? targetOf(url) : undefined;
      if (!url || !target)
        return refuseRequest(request, response, { status: 400, reason: "only http URLs and CONNECT are taken here" });
      const parent = await wayOut.parentOf(target);
      const answer = await sendBy(pools.of(parent), exchangeOf({ request, response, url, target }, parent));
      if (answer.statusCode === 407) {
        answer.destroy();
        // The browser would take it for a question of this proxy.
        throw parent ? new ParentFailed("the proxy refuses the user name or password") : new Error("answered 407");
      }
      await answerWith(answer, response);
    },
    close: pools.close,
  };
};
