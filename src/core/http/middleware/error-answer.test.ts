import { describe, expect, test } from "vitest";
import { AppError, httpStatus, invalidInput, notSupportedHere } from "../../../platform/base/errors.ts";
import { createLogger } from "../../../platform/base/log.ts";
import { asAppError, errorBody, errorHeaders } from "./error-answer.ts";

// HTTP-1, HTTP-2
test("the first bad field is the inner error, and each has its path in details", () => {
  const body = errorBody(invalidInput([{ path: "viewport.width", message: "a" }, { message: "b" }]));
  expect(body).toMatchObject({
    code: "bad_request",
    inner_error: { code: "invalid_input", message: "a" },
    details: [{ code: "invalid_input", message: "viewport.width: a", path: "viewport.width" }, { message: "b" }],
  });
  expect(errorBody(new AppError("conflict", "no"))).toEqual({ code: "conflict", message: "no" });
});

// HTTP-30
test("a setting that can't be carried out here is named, outside and inside, with a code of its own", () => {
  const error = notSupportedHere([
    { path: "gpu", message: "no node has a GPU; leave it out" },
    { path: "b", message: "c" },
  ]);
  const code = "not_supported_here";
  expect(errorBody(error)).toEqual({
    code,
    message: "gpu: no node has a GPU; leave it out; b: c",
    inner_error: { code, message: "no node has a GPU; leave it out" },
    details: [
      { code, message: "gpu: no node has a GPU; leave it out", path: "gpu" },
      { code, message: "b: c", path: "b" },
    ],
  });
  expect(httpStatus[error.code]).toBe(400);
  expect(errorHeaders(error)).toEqual({ "x-should-retry": "false" });
});

// HTTP-5
test("an unexpected failure is internal_error, and tells nothing of what happened", () => {
  const error = asAppError(new Error("password in /etc/secret"), createLogger("silent", "test"));
  const body = errorBody(error);
  expect(body.code).toBe("internal_error");
  expect(JSON.stringify(body)).not.toMatch(/password|secret|stack|error-answer/);
});

describe("the headers of an error", () => {
  // HTTP-20
  test("tell when to come back, in whole seconds and in milliseconds", () => {
    for (const code of ["too_many_requests", "unavailable"] as const)
      expect(errorHeaders(new AppError(code, "busy", { retryAfterSeconds: 1.5 }))).toEqual({
        "Retry-After": "2",
        "retry-after-ms": "1500",
      });
  });

  // HTTP-19
  test("forbid a repetition that would be answered in the same way, and no other", () => {
    for (const code of ["bad_request", "not_found", "name_taken", "idempotency_key_reused"] as const)
      expect(errorHeaders(new AppError(code, "no"))).toEqual({ "x-should-retry": "false" });
    expect(errorHeaders(new AppError("internal_error", "broken"))).toEqual({});
  });
});
