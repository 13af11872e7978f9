/** Requests that must be refused, and what every refusal must have. */
import { expect } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { collect } from "./filled-pool.ts";
import { type RawAnswer, rawRequest } from "./raw-http.ts";
import type { Stack } from "./stack.ts";

export type Send = { body?: string | Buffer; headers?: Record<string, string> };

/** A request with the key of the stack; `headers` override. */
export const sendRaw = (
  stack: Pick<Stack, "url" | "api_key">,
  method: string,
  path: string,
  { body, headers = {} }: Send = {},
): Promise<RawAnswer> =>
  rawRequest(stack.url, {
    method,
    path,
    headers: {
      authorization: `Bearer ${stack.api_key}`,
      ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });

type Refusal = { status: number; code: string; path?: string; message?: string };

export const badRequest: Refusal = { status: 400, code: "bad_request" };
export const notFound: Refusal = { status: 404, code: "not_found" };
export const forbidden: Refusal = { status: 403, code: "forbidden" };

/** Expects a refusal for the field at `path` of the request. */
export const invalid = (path: string): Refusal => ({ ...badRequest, path });

/** Expects a refusal because what the field at `path` names is not there; `message` says what that is. */
export const notFoundAt = (path: string, message: string): Refusal => ({ ...notFound, path, message });

/** What a call of the SDK rejects with: `text` is a part of the message. */
export const sdkRefusal = (status: number, code: string, text = "") => ({
  status,
  error: expect.objectContaining({ code, message: expect.stringContaining(text) }),
});

/** Expects the shape of errors (HTTP-1), no hint to repeat, and no internal details. */
export const expectRefusal = (answer: RawAnswer, { status, code, path, message = "" }: Refusal): void => {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status });
  expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  expect(answer.headers["x-should-retry"]).toBe("false");
  expect(answer.text).not.toMatch(/node_modules|\.ts:\d|\bat .*\(|Bearer [A-Za-z0-9]/);
  const body = JSON.parse(answer.text) as { message: string; details?: { path?: string }[] };
  expect(body).toMatchObject({ code, message: expect.stringMatching(/./) });
  if (path === undefined) return;
  const inner = status === 400 ? "invalid_input" : code;
  expect(body).toMatchObject({ inner_error: { code: inner, message: expect.stringMatching(/./) } });
  expect(body.details?.map((detail) => detail.path)).toContain(path);
  expect(body.message).toContain(path);
  expect(body.message).toContain(message);
};

/** All objects and sessions of the project: a refused request must not change them. */
export const storedState = async ({
  kube,
  kernel,
  namespace,
}: Pick<Stack, "kube" | "kernel" | "namespace">): Promise<unknown> => {
  const { items } = await kube.list(browserPoolKind, { namespace });
  const pools = items.filter(({ metadata }) => !metadata.deletionTimestamp);
  const browsers = await collect(kernel.browsers.list({ status: "all" }));
  return [pools.map(({ metadata, spec }) => [metadata.name, spec]), browsers.map(({ session_id }) => session_id)];
};
