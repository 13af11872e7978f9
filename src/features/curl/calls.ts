/** The call by which a holder sends a request as its browser would: a contract for the API and for the agent. */
import { z } from "zod";
import { callContract } from "../../core/protocol/browser-call.ts";

/** Longest time of a request, ms. */
const mostMs = 60_000;

/** Largest body of a request, characters. */
const mostBodyChars = 512 * 1024;
/** Largest body of a response, bytes. */
export const mostResponseBytes = 8 * 1024 * 1024;

const headerName = z
  .string()
  .max(200)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "is no name of a header");
const headerValue = z
  .string()
  .max(8192)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a value with one would be another header
  .regex(/^[^\u0000\r\n]*$/, "must be one line");

const isWeb = (url: string): boolean => ["http:", "https:"].includes(URL.parse(url)?.protocol ?? "");

const CurlRequest = z.object({
  url: z.string().max(8192).refine(isWeb, "must be an http or https URL"),
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]).optional().describe("By default GET."),
  headers: z
    .record(headerName, headerValue)
    .refine((headers) => Object.keys(headers).length <= 100, "at most 100")
    .optional()
    .describe("Besides those that the browser sends, or in their place."),
  body: z.string().max(mostBodyChars).optional().describe("Not with GET and HEAD."),
  response_encoding: z
    .enum(["utf8", "base64"])
    .optional()
    .describe("How the body is answered: as text, or, for bytes, as base64. By default utf8."),
  timeout_ms: z.int().min(1).max(mostMs).optional().describe("By default 30 s, at most 60 s."),
});
export type CurlRequest = z.output<typeof CurlRequest>;

const CurlResponse = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.array(z.string())),
  body: z.string(),
  duration_ms: z.int().min(0),
});
export type CurlResponse = z.output<typeof CurlResponse>;

/** Sends one request. */
export const curl = callContract({ method: "post", name: "curl", body: CurlRequest, answer: CurlResponse });
