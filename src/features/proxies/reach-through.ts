/**
 * One request through a proxy, on a connection to it that is open already.
 *
 *   https URL   CONNECT host:port, then TLS with the site, then GET
 *   http URL    GET with the whole URL, as proxies take it
 *   no URL      CONNECT to a host that there can't be: whatever the proxy answers but 407, it takes the login
 *
 * Node's own client parses the answers and bounds their heads.
 */
import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from "node:http";
import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { ParentProxy } from "../../core/protocol/browser-setup.ts";
import { trusting } from "../../platform/net/dial.ts";
import { credentialsOf } from "./rules/proxy-authorization.ts";

/** What came back. `status`: of the site, or of the proxy when it refused; `body`: its beginning; "" from a proxy. */
export type Answer = { from: "site" | "proxy"; status: number; body: string };

/** Most bytes of an answer that are read. */
const maxBody = 4096;

/** A name that nobody can register (RFC 2606). */
const nowhere = "check.invalid:443";

const authorization = (parent: ParentProxy): Record<string, string> => {
  const credentials = credentialsOf(parent);
  return credentials === undefined ? {} : { "proxy-authorization": credentials };
};

/** Without an agent: with one, also with `false`, Node would open a connection of its own, past the proxy. */
const send = (socket: Socket, options: Omit<RequestOptions, "agent">): ClientRequest => {
  const sent = request({ ...options, createConnection: () => socket });
  sent.end();
  return sent;
};

const bodyOf = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBody) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBody).toString("utf8");
};

const answerOf = async (sent: ClientRequest): Promise<IncomingMessage> => {
  const answer = Promise.withResolvers<IncomingMessage>();
  sent.once("response", answer.resolve);
  sent.once("error", answer.reject);
  return answer.promise;
};

/** Opens a tunnel. Returns the proxy's status, and after 2xx the socket of the tunnel. */
const tunnel = async (
  parent: ParentProxy,
  { socket, authority, signal }: { socket: Socket; authority: string; signal: AbortSignal },
): Promise<number> => {
  const headers = { host: authority, ...authorization(parent) };
  const sent = send(socket, { method: "CONNECT", path: authority, headers, signal });
  const answer = Promise.withResolvers<number>();
  // Node takes any answer to CONNECT for the begin of a tunnel.
  sent.once("connect", (response, _, head) => {
    // What comes before we speak belongs to the tunnel.
    if (head.length > 0) socket.unshift(head);
    answer.resolve(response.statusCode ?? 0);
  });
  sent.once("error", answer.reject);
  return answer.promise;
};

const isTunnel = (status: number): boolean => status >= 200 && status <= 299;

const secured = async (socket: Socket, url: URL, parent: ParentProxy): Promise<Socket> => {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const secureContext = trusting(parent.ca_bundle);
  const secure = connectTls({
    socket,
    host,
    ...(isIP(host) ? {} : { servername: host }),
    ...(secureContext && { secureContext }),
  });
  const ready = Promise.withResolvers<Socket>();
  secure.once("secureConnect", () => ready.resolve(secure));
  // A TLS socket that has refused a certificate may fail once more.
  secure.on("error", ready.reject);
  secure.once("close", () => ready.reject(new Error("the connection was closed")));
  return ready.promise;
};

const get = async (
  socket: Socket,
  { url, path, headers, signal }: { url: URL; path: string; headers: Record<string, string>; signal: AbortSignal },
): Promise<Answer> => {
  const sent = send(socket, {
    path,
    headers: { host: url.host, accept: "*/*", "user-agent": "browserpool-proxy-check", ...headers },
    signal,
  });
  const response = await answerOf(sent);
  return { from: "site", status: response.statusCode ?? 0, body: await bodyOf(response) };
};

/** Statuses by which a proxy says that it has not reached the site, or refuses. */
const proxyStatuses = new Set([407, 502, 503, 504]);

const getPlain = async (parent: ParentProxy, url: URL, socket: Socket, signal: AbortSignal): Promise<Answer> => {
  const answer = await get(socket, { url, path: url.href, headers: authorization(parent), signal });
  return proxyStatuses.has(answer.status) ? { from: "proxy", status: answer.status, body: "" } : answer;
};

/**
 * Sends one GET for `url` through the proxy at the other end of `socket`, or asks the proxy alone when there is none.
 * Rejects when the connection or the certificate of the site fails, and when `signal` is aborted. The caller destroys
 * the socket.
 */
export const reachThrough = async (
  parent: ParentProxy,
  { socket, url, signal }: { socket: Socket; url: URL | undefined; signal: AbortSignal },
): Promise<Answer> => {
  const cut = (): void => void socket.destroy(signal.reason as Error);
  signal.throwIfAborted();
  signal.addEventListener("abort", cut, { once: true });
  // Errors reach the request that is running; between two of them nobody listens.
  socket.on("error", () => undefined);
  try {
    if (url?.protocol === "http:") return await getPlain(parent, url, socket, signal);
    const authority = url ? `${url.hostname}:${url.port || 443}` : nowhere;
    const status = await tunnel(parent, { socket, authority, signal });
    if (!url || !isTunnel(status)) return { from: "proxy", status, body: "" };
    const secure = await secured(socket, url, parent);
    return await get(secure, { url, path: `${url.pathname}${url.search}`, headers: {}, signal });
  } finally {
    signal.removeEventListener("abort", cut);
  }
};
