/** What a browser is told when its traffic does not pass. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Refused } from "./way-out.ts";

/** Names the reason of a refusal to whoever looks at the browser's traffic. */
const reasonHeader = "x-browserpool-refused";

/** A parent proxy did not take the connection; the message is for users. */
export class ParentFailed extends Error {}

/** A status and a reason for the browser. What a server or the system says in errors stays here: it could tell of the network. */
export const failureOf = (error: unknown): { status: number; reason: string } => {
  if (error instanceof Refused) return { status: 403, reason: error.message };
  return { status: 502, reason: error instanceof ParentFailed ? error.message : "the host can't be reached" };
};

/** Answers a CONNECT and closes the connection. */
export const refuseTunnel = (client: Duplex, { status, reason }: { status: number; reason: string }): void => {
  const body = `${reason}\n`;
  const head = [
    `HTTP/1.1 ${status} Refused`,
    `${reasonHeader}: ${reason}`,
    "Content-Type: text/plain",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  client.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => client.destroy());
};

/** Answers a request, or cuts its connection when an answer has begun already. */
export const refuseRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  { status, reason }: { status: number; reason: string },
): void => {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, {
    [reasonHeader]: reason,
    "content-type": "text/plain",
    // Not the rest of a body that nobody takes.
    ...(request.complete ? {} : { connection: "close" }),
  });
  response.end(`${reason}\n`);
};
