import { expect, test } from "vitest";
import { createCalls } from "./calls.ts";
import type { KubeResponse, Transport } from "./transport.ts";

/** A transport that gives this answer to everything. */
const answering = (statusCode: number, body: string): Transport => {
  const read = { text: async () => body, json: async () => JSON.parse(body) };
  return { send: async () => ({ statusCode, body: read }) as unknown as KubeResponse, close: async () => undefined };
};
const key = "c2VjcmV0IG9mIGFuIGFnZW50";
const request = { method: "POST", path: "/api/v1/namespaces/a/secrets", body: { data: { key } } } as const;
const failure = (statusCode: number, body: string): Promise<unknown> =>
  createCalls(answering(statusCode, body), 1000)
    .call(request)
    .catch((error: unknown) => error);

test("an answer that is no Status gives an error with the request's line, and with nothing that was sent or answered", async () => {
  const error = await failure(502, `<html>Bad Gateway: ${key}</html>`);
  expect(error).toMatchObject({ reason: "Http502", status: 502 });
  expect((error as Error).message).toBe("POST /api/v1/namespaces/a/secrets was answered with 502");
});

test("a Status gives its reason and its message, and an answer that breaks off none", async () => {
  const conflict = { kind: "Status", reason: "AlreadyExists", message: 'secrets "k" already exists', code: 409 };
  expect(await failure(409, JSON.stringify(conflict))).toMatchObject({
    reason: "AlreadyExists",
    status: 409,
    message: conflict.message,
  });
  expect(await failure(201, `{"data": {"key": "${key}`)).toMatchObject({
    reason: "Unreachable",
    message: "the answer to POST /api/v1/namespaces/a/secrets broke off",
  });
});
