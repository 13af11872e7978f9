import { expect, test } from "vitest";
import { abortWith } from "./abort-with.ts";

test("all controllers that follow a signal are aborted with its reason, but for those that were let go", () => {
  const source = new AbortController();
  const [first, second, gone] = [new AbortController(), new AbortController(), new AbortController()];
  for (const controller of [first, second]) abortWith(controller, source.signal);
  abortWith(gone, source.signal)();
  const reason = new Error("it stops");
  source.abort(reason);
  for (const { signal } of [first, second]) expect([signal.aborted, signal.reason]).toEqual([true, reason]);
  expect(gone.signal.aborted).toBe(false);
});

test("a controller keeps the reason that it was aborted with before", () => {
  const [source, controller] = [new AbortController(), new AbortController()];
  abortWith(controller, source.signal);
  controller.abort("the caller is gone");
  source.abort("it stops");
  expect(controller.signal.reason).toBe("the caller is gone");
});

test("a signal that is aborted already aborts at once", () => {
  const controller = new AbortController();
  abortWith(controller, AbortSignal.abort("it stops"));
  expect(controller.signal.reason).toBe("it stops");
});
