import { expect, test, vi } from "vitest";
import { createLogger } from "../../../platform/base/log.ts";
import type { CdpConnection, CdpEvent } from "../../../platform/cdp/cdp-connection.ts";
import { startCapture } from "./capture.ts";

/** More than are watched at once. */
const many = 600;

/** A capture of pages on a connection whose browser answers everything. */
const capture = async () => {
  const send = vi.fn(async (_method: string, _params: unknown, _call?: { sessionId?: string }) => ({}));
  let tell = (_event: CdpEvent): void => undefined;
  const cdp = {
    send,
    onEvent: (listener: typeof tell) => {
      tell = listener;
    },
  } as unknown as CdpConnection;
  const stop = await startCapture({
    cdp,
    recorder: { emit: () => undefined, drop: () => undefined } as never,
    categories: new Set(["page"]),
    shown: {} as never,
    log: createLogger("silent", "test"),
    answersDialogs: () => false,
  });
  const sessionsOf = (method: string): (string | undefined)[] =>
    send.mock.calls.flatMap(([sent, , call]) => (sent === method && call?.sessionId ? [call.sessionId] : []));
  return { stop, tell: (event: CdpEvent) => tell(event), sessionsOf };
};

const attached = (sessionId: string): CdpEvent => ({
  method: "Target.attachedToTarget",
  params: { sessionId, targetInfo: { targetId: sessionId, type: "page", url: "about:blank", title: "" } },
  sessionId: undefined,
});

// TELEMETRY-14
test("of very many tabs some are watched, and each goes on", async () => {
  const { stop, tell, sessionsOf } = await capture();
  const all = Array.from({ length: many }, (_, tab) => `tab-${tab}`);
  for (const tab of all) tell(attached(tab));
  expect(sessionsOf("Runtime.runIfWaitingForDebugger")).toEqual(all);
  const watchedTabs = sessionsOf("Page.enable");
  expect(watchedTabs.length).toBeGreaterThan(0);
  expect(watchedTabs.length).toBeLessThan(many);

  // A tab that is closed makes room.
  tell({ method: "Target.detachedFromTarget", params: { sessionId: watchedTabs[0] }, sessionId: undefined });
  tell(attached("last"));
  expect(sessionsOf("Page.enable").at(-1)).toBe("last");
  stop();
});
