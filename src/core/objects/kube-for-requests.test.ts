import { expect, test } from "vitest";
import { AppError } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { KubeError } from "../../platform/kube/kube-error.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import { kubeForRequests } from "./kube-for-requests.ts";

/** What a caller of every method gets when the API server answers with this error. */
const seen = async (error: Error): Promise<unknown[]> => {
  const fails = () => Promise.reject(error);
  const methods = ["get", "list", "create", "replace", "patch", "delete", "apply"] as const;
  const kube = kubeForRequests(Object.fromEntries(methods.map((name) => [name, fails])) as unknown as Kube);
  const calls = methods.map((name) =>
    (kube[name] as (...asked: unknown[]) => Promise<unknown>)(secrets, { metadata: {} }),
  );
  return Promise.all(calls.map((call) => call.catch((caught: unknown) => caught)));
};
const forbidden = (message: string) => new KubeError("Forbidden", 403, message);

// HTTP-29
test.each<[string, KubeError, object]>([
  ["no answer", new KubeError("Unreachable", 0, "no answer"), { code: "unavailable" }],
  ["throttling", new KubeError("TooManyRequests", 429, "slow down"), { code: "unavailable" }],
  [
    "an object above the API server's limit",
    new KubeError("RequestEntityTooLarge", 413, "limit is 3145728"),
    { code: "payload_too_large" },
  ],
  [
    "an object above etcd's",
    new KubeError("InternalError", 500, "etcdserver: request is too large"),
    { code: "payload_too_large" },
  ],
  [
    "an object that the schema refuses",
    new KubeError("Invalid", 422, "spec.size: Invalid value"),
    { code: "bad_request", message: "spec.size: Invalid value" },
  ],
  [
    "a right that is not there yet",
    forbidden('secrets "a" is forbidden: User "system:serviceaccount:x" cannot get'),
    { code: "unavailable" },
  ],
  [
    "a quota of the project",
    forbidden('vaults "a" is forbidden: exceeded quota: browserpool-objects, used: count/vaults.browserpool.dev=3'),
    { code: "conflict", message: expect.stringContaining("count/vaults.browserpool.dev=3") },
  ],
  [
    "a quota that is not counted yet",
    forbidden('vaults "a" is forbidden: status unknown for quota: browserpool-objects'),
    { code: "unavailable" },
  ],
])("a caller is told of %s by the service's own error, whatever was called", async (_what, error, expected) => {
  const caught = await seen(error);
  for (const one of caught) expect(one).toBeInstanceOf(AppError);
  expect(caught).toMatchObject(caught.map(() => expected));
});

test("what a use case handles itself stays as it is", async () => {
  const policy = forbidden('admission webhook "x" denied the request');
  for (const error of [
    new KubeError("Conflict", 409, "changed"),
    new KubeError("NotFound", 404, "gone"),
    policy,
    new Error("a bug"),
  ])
    expect(new Set(await seen(error))).toEqual(new Set([error]));
});
