/**
 * The time that the body of a request may take. Node has one limit for all requests: what is enough to upload a gigabyte
 * over a slow link would let a body of JSON come by the byte for as long.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { AppError } from "../../platform/base/errors.ts";
import { refuseSocket } from "./refuse-socket.ts";

/** For a whole body; of an upload, for each part of it, ms. */
const bodyMs = 60_000;

/** For a whole upload, ms: Node's limit of all requests. */
export const uploadMs = 60 * 60_000;

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Whether a request has a body, by its head. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const endLate = (request: IncomingMessage, response: ServerResponse): void => {
  if (response.headersSent) request.socket.destroy();
  else refuseSocket(request.socket, new AppError("request_timeout", "the request did not arrive in time"));
};

/** Answers 408 and closes the connection when a body does not come in time, and the same after an answer. */
export const limitBodies = (server: Server, withinMs = bodyMs): void => {
  server.on("request", (request, response) => {
    if (!hasBody(request)) return;
    const timer = setTimeout(() => endLate(request, response), withinMs);
    timers.set(request, timer);
    const end = (): void => clearTimeout(timer);
    request.once("end", end);
    request.once("close", end);
  });
};

/** Some of an upload has come: its time begins anew. */
export const uploadGoesOn = (request: IncomingMessage): void => void timers.get(request)?.refresh();
