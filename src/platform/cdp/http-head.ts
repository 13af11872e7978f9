/** The head of an HTTP message on a raw socket, read before the rest of the stream is joined with another one. */
import type { Socket } from "node:net";

/** Longest head, bytes: as Node's own limit. */
const maxHeadBytes = 16 * 1024;

const headEnd = "\r\n\r\n";

/** `text`: the status line and the headers as they came, with the blank line. `headers`: by their lower-case names. */
export type HttpHead = { text: string; status: number; headers: Record<string, string> };

const headersIn = (text: string): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const line of text.split("\r\n").slice(1)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return headers;
};

const parseHead = (text: string): HttpHead => {
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r\n)/.exec(text)?.[1]);
  if (Number.isNaN(status)) throw new Error("the answer is not HTTP");
  return { text, status, headers: headersIn(text) };
};

/**
 * Reads a head from a socket that nobody reads yet. What follows it stays in the socket, which is paused. `parse`:
 * throws for what is no such head.
 */
const readHead = <Head>(socket: Socket, parse: (text: string) => Head, timeoutMs?: number): Promise<Head> =>
  new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const settle = (): void => {
      socket.off("data", onData).off("close", onClose).off("end", onClose).off("error", onClose);
      clearTimeout(timer);
    };
    const fail = (message: string): void => {
      settle();
      reject(new Error(message));
    };
    const onClose = (): void => fail("the connection closed before the answer's head");
    const onTimeout = (): void => fail(`no answer within ${timeoutMs} ms`);
    const onData = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf(headEnd);
      if (end < 0 && read.length <= maxHeadBytes) return;
      socket.pause();
      settle();
      const length = end + headEnd.length;
      if (end < 0 || length > maxHeadBytes) {
        reject(new Error("the answer's head is too long"));
        return;
      }
      if (read.length > length) socket.unshift(read.subarray(length));
      try {
        resolve(parse(read.toString("latin1", 0, length)));
      } catch (error) {
        reject(error);
      }
    };
    socket.on("data", onData).on("close", onClose).on("end", onClose).on("error", onClose);
    const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs);
  });

/**
 * Reads the head of the answer from a socket that nobody reads yet. What follows the head stays in the socket, which is
 * paused. Rejects when the socket closes first, when the head is too long or no HTTP, or is not whole after
 * `timeoutMs`; the caller then destroys the socket. Left out, only the other side's end ends the wait.
 */
export const readHttpHead = (socket: Socket, timeoutMs?: number): Promise<HttpHead> =>
  readHead(socket, parseHead, timeoutMs);

/** Reads the headers of a request, by their lower-case names, as `readHttpHead` does those of an answer. */
export const readRequestHeaders = (socket: Socket, timeoutMs: number): Promise<Record<string, string>> =>
  readHead(socket, headersIn, timeoutMs);

/** The head's text with one header more. */
export const withHeader = ({ text }: HttpHead, name: string, value: string): string =>
  `${text.slice(0, -2)}${name}: ${value}\r\n\r\n`;

/** The head's text without a header. */
export const withoutHeader = ({ text }: HttpHead, name: string): string =>
  text
    .split("\r\n")
    .filter((line) => !line.toLowerCase().startsWith(`${name}:`))
    .join("\r\n");
