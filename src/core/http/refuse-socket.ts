/** Error answers without a response object: for refused upgrades and malformed requests. */
import { type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { AppError, httpStatus } from "../../platform/base/errors.ts";
import { endSocket } from "../../platform/net/end-socket.ts";
import { errorBody, errorHeaders } from "./middleware/error-answer.ts";

/** Writes an error as an HTTP/1.1 answer and closes the connection, even if the caller never does. */
export const refuseSocket = (socket: Duplex, error: AppError): void => {
  const body = JSON.stringify(errorBody(error));
  const status = httpStatus[error.code];
  const headers = {
    ...errorHeaders(error),
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  endSocket(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
};

const malformed = ({ code }: NodeJS.ErrnoException): AppError => {
  if (code === "HPE_HEADER_OVERFLOW")
    return new AppError("headers_too_large", "the headers of the request are too large");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new AppError("request_timeout", "the request did not arrive in time");
  return new AppError("bad_request", "this is not valid HTTP/1.1");
};

/** Answers requests that the HTTP parser of `server` can't read, with the usual body of errors. */
export const answerMalformed = (server: Server): void => {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    socket.on("error", () => socket.destroy());
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else refuseSocket(socket, malformed(error));
  });
};
