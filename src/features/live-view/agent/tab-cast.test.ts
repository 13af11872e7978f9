import { afterEach, expect, test, vi } from "vitest";
import type { ShownPages } from "../../../core/agent/shown-pages.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { startTabCast, type TabCast } from "./tab-cast.ts";

afterEach(() => void vi.useRealTimers());

/** A tab whose checks the test answers. */
const start = () => {
  const checks: ((may: boolean) => void)[] = [];
  const sent: string[] = [];
  let fill = (): void => undefined;
  const shownPages: ShownPages = {
    isFilling: () => false,
    onFill(listener) {
      fill = listener;
      return () => undefined;
    },
    mayShow: () => new Promise((resolve) => checks.push(resolve)),
  };
  const cdp: Pick<CdpConnection, "send"> = {
    async send(method: string) {
      sent.push(method);
      return undefined as never;
    },
  };
  const onNews = vi.fn();
  const cast = startTabCast({ cdp: cdp as CdpConnection, sessionId: "tab", shownPages, onNews });
  const answer = async (may: boolean): Promise<void> => {
    checks.shift()?.(may);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  return { cast, sent, onNews, answer, checks: () => checks.length, fill: () => fill() };
};

const picture = (cast: TabCast, data: string): void =>
  cast.onFrame({ data, sessionId: 1, metadata: { deviceWidth: 8, deviceHeight: 6 } });

// VIEW-12
test("no picture is given out while it is checked whether another document may be shown", async () => {
  const { cast, answer, onNews } = start();
  expect(cast.state()).toBe("checking");
  await answer(true);
  picture(cast, "b25l");
  expect([cast.state(), cast.take(0)?.number]).toEqual(["shown", 1]);

  onNews.mockClear();
  cast.onDocument();
  expect(cast.state()).toBe("checking");
  expect(onNews).toHaveBeenCalledOnce();
  picture(cast, "dHdv");
  expect(cast.take(0)).toBeUndefined();
  expect(onNews).toHaveBeenCalledOnce();
  await answer(true);
  expect([cast.state(), cast.take(0)?.number]).toEqual(["shown", 2]);
});

// VIEW-12
test("a document that may not be shown is hidden, and the answer to an older check shows nothing", async () => {
  const { cast, sent, answer, checks, fill } = start();
  await answer(true);
  cast.onDocument();
  cast.onDocument();
  expect(checks()).toBe(2);
  await answer(true);
  expect(cast.state()).toBe("checking");
  await answer(false);
  expect([cast.state(), sent]).toEqual(["hidden", ["Page.startScreencast", "Page.stopScreencast"]]);

  vi.useFakeTimers();
  cast.onDocument();
  vi.runOnlyPendingTimers();
  fill();
  await answer(true);
  expect(cast.state()).toBe("hidden");
  cast.stop();
});
