import { expect, test } from "vitest";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { CdpRefused } from "../../../platform/cdp/cdp-errors.ts";
import { openFrames } from "./frames.ts";

/**
 * A page with a frame, and a frame in that. Its browser refuses to open those in `gone`, which it has navigated away
 * meanwhile.
 */
const pageWith = (gone: readonly string[]): CdpConnection => {
  const frameTree = {
    frame: { id: "page" },
    childFrames: [
      { frame: { id: "outer", parentId: "page" }, childFrames: [{ frame: { id: "inner", parentId: "outer" } }] },
    ],
  };
  const answers: Record<string, (params: { frameId?: string; contextId?: string }) => object> = {
    "Page.getFrameTree": () => ({ frameTree }),
    "Target.setAutoAttach": () => ({}),
    "Page.createIsolatedWorld": ({ frameId = "" }) => {
      if (gone.includes(frameId)) throw new CdpRefused("no frame");
      return { executionContextId: frameId };
    },
    "Runtime.evaluate": ({ contextId }) => ({ result: { objectId: `fields of ${contextId}` } }),
  };
  return {
    send: async (method: string, params: object) => answers[method]?.(params),
    attachedBelow: () => [],
  } as unknown as CdpConnection;
};
const opened = async (...gone: string[]): Promise<string[]> =>
  (await openFrames(pageWith(gone), "session")).map(({ objectId }) => objectId);

// FILL-19
test("each frame of a page knows the frame around it", async () => {
  const [page, outer, inner] = await openFrames(pageWith([]), "session");
  expect([page?.parent, outer?.parent, inner?.parent]).toEqual([undefined, page, outer]);
});

// FILL-19
test("a frame inside of one that is gone is gone, too: it is no page of its own", async () => {
  expect(await opened("outer")).toEqual(["fields of page"]);
  expect(await opened("inner")).toEqual(["fields of page", "fields of outer"]);
  expect(await opened("page")).toEqual([]);
});
