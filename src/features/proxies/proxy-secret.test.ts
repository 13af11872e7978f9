import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { AppError, unavailable } from "../../platform/base/errors.ts";
import { Sensitive } from "../../platform/base/sensitive.ts";
import type { SecretsKeys } from "../../platform/secrets/sealing.ts";
import type { WebProxy } from "./proxy.ts";
import { createProxySecret } from "./proxy-secret.ts";

const password = "pa55-of-a-proxy";
const proxy = { metadata: { name: "p", namespace: "a", uid: "u" }, spec: {} } as unknown as WebProxy;
const keys: SecretsKeys = [{ id: "0a0b0c0d", bytes: randomBytes(32) }];

const errorWith = (error: Error): Promise<unknown> => {
  const kube = { create: () => Promise.reject(error), get: async () => undefined };
  return createProxySecret(
    proxy,
    { password: new Sensitive(password) },
    { kube: kube as never, secretsKeys: keys },
  ).catch((caught: unknown) => caught);
};

// PROXY-21
test("what the API server says of a Secret that it refuses is told to nobody: it can quote the Secret", async () => {
  const quoted = `Secret "proxy-p" is invalid: data[password]: Invalid value: "${password}"`;
  const error = (await errorWith(new AppError("bad_request", quoted))) as AppError;
  expect(error).toMatchObject({
    code: "bad_request",
    message: "the Kubernetes API refuses to store the proxy's secrets",
  });
  expect(`${error.stack} ${JSON.stringify(error)} ${error.cause}`).not.toContain(password);
});

test("an outage stays one", async () => {
  expect(await errorWith(unavailable("the Kubernetes API"))).toMatchObject({ code: "unavailable" });
});
