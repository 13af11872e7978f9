import { isUtf8 } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import express, { type Request, type Response } from "express";
import { AppError } from "../../../platform/base/errors.ts";
import { hasBody } from "../body-deadline.ts";
import { defaultBodyEntries, excessOf, tooDeep } from "../body-entries.ts";

// Whether a body is text. What is not would be stored as another text than was sent, with U+FFFD in its place: a
// password, too. So bytes that are no UTF-8 are refused, and escapes that name half a surrogate pair.

const [backslash, smallU] = [0x5c, 0x75];

const isOneOf = (digits: string): ((byte: number | undefined) => boolean) => {
  const bytes = new Set(Buffer.from(digits));
  return (byte) => byte !== undefined && bytes.has(byte);
};
const isD = isOneOf("dD");
const beginsHigh = isOneOf("89abAB");
const beginsLow = isOneOf("cdefCDEF");

/** Half of a pair that the escape at `at`, which is behind its backslash, names. */
const halfAt = (bytes: Uint8Array, at: number): "high" | "low" | undefined => {
  if (bytes[at] !== smallU || !isD(bytes[at + 1])) return undefined;
  if (beginsHigh(bytes[at + 2])) return "high";
  return beginsLow(bytes[at + 2]) ? "low" : undefined;
};

const hasHalfPair = (bytes: Uint8Array): boolean => {
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== backslash) continue;
    at += 1;
    const half = halfAt(bytes, at);
    if (half === undefined) continue;
    if (half === "low" || bytes[at + 5] !== backslash || halfAt(bytes, at + 6) !== "low") return true;
    at += 10;
  }
  return false;
};

/**
 * Why the JSON in these bytes is not text, in words; undefined when it is. Bytes that are no JSON are judged as they
 * come.
 */
export const whyNotText = (bytes: Uint8Array): string | undefined => {
  if (!isUtf8(bytes)) return "is not UTF-8";
  return hasHalfPair(bytes) ? "names half a surrogate pair: it is no text" : undefined;
};

/** Largest body of a route without its own limit, bytes. */
const defaultLimit = 1024 * 1024;

/** A body of this size takes milliseconds at each step: others get their turn between two of them. */
const largeBody = 128 * 1024;

type Parse = (request: Request, response: Response) => Promise<void>;
/** What a body may have. `entries`: see body-entries.ts. */
type BodyBounds = { bytes: number; entries: number };

const large = new WeakSet<object>();

/**
 * Why a body is refused by its bytes, in words that follow "the body". Thrown within the parser, which adds the body to
 * it.
 */
class Refused extends Error {
  readonly code: "bad_request" | "payload_too_large";
  constructor(code: "bad_request" | "payload_too_large", why: string) {
    super(why);
    this.code = code;
  }
}

const parsers = new Map<string, Parse>();

const makeParser = ({ bytes, entries }: BodyBounds): Parse => {
  const verify = (request: object, _response: unknown, body: Buffer, charset: string): void => {
    if (body.length >= largeBody) large.add(request);
    if (charset !== "utf-8") throw Object.assign(new Error("the charset is not UTF-8"), { status: 415 });
    const excess = excessOf(body, entries);
    if (excess !== undefined) throw new Refused(excess === tooDeep ? "bad_request" : "payload_too_large", excess);
    const whyNot = whyNotText(body);
    if (whyNot !== undefined) throw new Refused("bad_request", whyNot);
  };
  const handle = express.json({ limit: bytes, strict: false, type: () => true, verify });
  return promisify((request: Request, response: Response, done: (error?: Error) => void) =>
    handle(request, response, done),
  );
};

const parserFor = (bounds: BodyBounds): Parse => {
  const key = `${bounds.bytes} ${bounds.entries}`;
  const parser = parsers.get(key) ?? makeParser(bounds);
  parsers.set(key, parser);
  return parser;
};

const isJson = (contentType = ""): boolean => /^application\/(\S+\+)?json\s*(;|$)/i.test(contentType);

/** Resolves when others had their turn, if the body of this request is large; otherwise at once. */
export const giveTurn = async (request: Request): Promise<void> => {
  if (large.has(request)) await nextTurn();
};

/**
 * Sets `request.body` to the JSON body, `{}` when there is none, and returns it. `bounds`: of the route. Throws
 * `unsupported_media_type`, `payload_too_large` or `bad_request`.
 */
export const parseBody = async (
  request: Request,
  response: Response,
  {
    bodyLimit: bytes = defaultLimit,
    bodyEntries: entries = defaultBodyEntries,
  }: { bodyLimit?: number; bodyEntries?: number } = {},
): Promise<unknown> => {
  if (!hasBody(request)) {
    request.body = {};
    return request.body;
  }
  if (!isJson(request.headers["content-type"]))
    throw new AppError("unsupported_media_type", "send the body as Content-Type: application/json");
  try {
    await parserFor({ bytes, entries })(request, response);
  } catch (cause) {
    if (cause instanceof Refused) throw new AppError(cause.code, `the body ${cause.message}`);
    // The parser throws errors with these fields; anything else has neither.
    const { type, status } = cause as { type?: string; status?: number };
    if (type === "entity.too.large")
      throw new AppError("payload_too_large", `the body is larger than ${bytes} bytes`, { cause });
    if (status === 415)
      throw new AppError("unsupported_media_type", "this charset or encoding is not supported", { cause });
    // No cause: the parser's error contains the whole body, which can contain a password.
    throw new AppError("bad_request", "the body is not valid JSON");
  }
  await giveTurn(request);
  return request.body;
};
