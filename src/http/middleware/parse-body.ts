import { promisify } from "node:util";
import express, { type Request, type Response } from "express";
import { AppError } from "../../errors.ts";

/** Largest body of a route without its own limit, bytes. */
const defaultLimit = 1024 * 1024;

type Parse = (request: Request, response: Response) => Promise<void>;

const parsers = new Map<number, Parse>();

const parserFor = (limit: number): Parse => {
  const known = parsers.get(limit);
  if (known) return known;
  const handle = express.json({ limit, strict: false, type: () => true });
  const parse = promisify((request: Request, response: Response, done: (error?: Error) => void) =>
    handle(request, response, done),
  );
  parsers.set(limit, parse);
  return parse;
};

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const isJson = (contentType = ""): boolean => /^application\/(\S+\+)?json\s*(;|$)/i.test(contentType);

/**
 * Sets `request.body` to the JSON body, `{}` when there is none, and returns it. Throws `unsupported_media_type`,
 * `payload_too_large` or `bad_request`.
 */
export const parseBody = async (request: Request, response: Response, limit = defaultLimit): Promise<unknown> => {
  if (!hasBody(request)) {
    request.body = {};
    return request.body;
  }
  if (!isJson(request.headers["content-type"]))
    throw new AppError("unsupported_media_type", "send the body as Content-Type: application/json");
  try {
    await parserFor(limit)(request, response);
    return request.body;
  } catch (cause) {
    // The parser throws errors with these fields; anything else has neither.
    const { type, status } = cause as { type?: string; status?: number };
    if (type === "entity.too.large")
      throw new AppError("payload_too_large", `the body is larger than ${limit} bytes`, { cause });
    if (status === 415)
      throw new AppError("unsupported_media_type", "this charset or encoding is not supported", { cause });
    // No cause: the parser's error contains the whole body, which can contain a password.
    throw new AppError("bad_request", "the body is not valid JSON");
  }
};
