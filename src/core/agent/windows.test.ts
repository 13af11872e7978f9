import { expect, test } from "vitest";
import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";
import { createWindows } from "./windows.ts";

const first = { width: 800, height: 600 };

/** A Chromium without a page. `failures`: so many calls that have pages told of fail. */
const startCdp = (failures: number) => {
  const sizes: unknown[] = [];
  let left = failures;
  let isTelling = false;
  let onPage: ((targetId: string) => void) | undefined;
  const answers: Record<string, (params: Record<string, unknown>) => object> = {
    "Emulation.getScreenInfos": () => ({ screenInfos: [{ id: "1", isPrimary: true }] }),
    "Emulation.updateScreen": () => ({}),
    "Target.getTargets": () => ({ targetInfos: [] }),
    "Target.setDiscoverTargets"() {
      if (left-- > 0) throw new Error("no answer in time");
      isTelling = true;
      return {};
    },
    "Browser.getWindowForTarget": () => ({ windowId: 1, bounds: first }),
    "Browser.getWindowBounds": () => ({ bounds: sizes.at(-1) ?? first }),
    "Browser.setWindowBounds"({ bounds }) {
      sizes.push(bounds);
      return {};
    },
  };
  const cdp: Pick<CdpConnection, "send" | "onPage"> = {
    send: async (method: string, params: object = {}) => answers[method]?.(params as Record<string, unknown>) as never,
    onPage(listener) {
      onPage = listener;
    },
  };
  return {
    cdp: cdp as CdpConnection,
    sizes,
    /** A page opens; it is told of when that was asked for. */
    open: () => isTelling && onPage?.("page"),
  };
};

test("windows that open later have the size of a resize, also after one that failed", async () => {
  const { cdp, sizes, open } = startCdp(1);
  const windows = createWindows({ cdp, screen: undefined, viewport: first, sizeFor: (viewport) => viewport });
  const resize = (width: number) => windows.resize({ width, height: 700 }, AbortSignal.timeout(5000));
  await expect(resize(900)).rejects.toThrow("no answer in time");
  expect(await resize(1000)).toBe("resized");
  open();
  await expect.poll(() => sizes).toEqual([{ left: 0, top: 0, width: 1000, height: 700 }]);
});
