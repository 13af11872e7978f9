/** HTTP requests that `fetch` refuses to send: any Host and Origin, any path, any header, upgrades. */
import { type IncomingMessage, type RequestOptions, request } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";

export type RawAnswer = { status: number; headers: IncomingMessage["headers"]; text: string };

/** `path` is sent unchanged. */
export const rawRequest = (
  baseUrl: string,
  { path = "/", body, ...options }: RequestOptions & { body?: string | Buffer } = {},
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(baseUrl);
    const sent = request({ hostname, port, path, agent: false, ...options }, (response) => {
      text(response).then(
        (answer) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: answer }),
        reject,
      );
    });
    sent.once("upgrade", (response: IncomingMessage, socket: Socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: "" });
    });
    sent.once("error", reject);
    sent.end(body);
  });

/** The answer to a WebSocket upgrade. A successful one (101) is closed at once. */
export const upgrade = (url: string, headers: Record<string, string> = {}): Promise<RawAnswer> => {
  const { host, pathname, search } = new URL(url);
  return upgradeAt(`http://${host}`, pathname + search, headers);
};

/** Like `upgrade`, at a path that may be invalid. */
export const upgradeAt = (baseUrl: string, path: string, headers: Record<string, string> = {}): Promise<RawAnswer> =>
  rawRequest(baseUrl, {
    path,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...headers,
    },
  });
