/** What a browser is told when its traffic does not pass. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type RefusedBy, refusedByHeader } from "../../../platform/addresses/network-filter.ts";
import { ParentFailed, Refused } from "./way-out.ts";

/** Names the reason of a refusal to whoever looks at the browser's traffic. */
const reasonHeader = "x-browserpool-refused";

type Failure = { status: number; reason: string; by?: RefusedBy };

/**
 * A status and a reason for the browser. What a server or the system says in errors stays here: it could tell of the
 * network.
 */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof Refused) return { status: 403, reason: error.message, by: "rules" };
  if (error instanceof ParentFailed) return { status: 502, reason: error.message, by: "proxy" };
  return { status: 502, reason: "the host can't be reached", by: "host" };
};

/** Answers a CONNECT and closes the connection. */
export const refuseTunnel = (client: Duplex, { status, reason }: Failure): void => {
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
  { status, reason, by }: Failure,
): void => {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, {
    [reasonHeader]: reason,
    ...(by && { [refusedByHeader]: by }),
    "content-type": "text/plain",
    // Not the rest of a body that nobody takes.
    ...(request.complete ? {} : { connection: "close" }),
  });
  response.end(`${reason}\n`);
};
