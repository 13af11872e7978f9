import type { PageOrder } from "../../src/core/agent/page-order.ts";
import type { Uploads } from "../../src/features/live-view/agent/file-chooser.ts";

/** The order in which Chromium lists its pages: for tests that have one page, or look at no order. */
export const listedOrder: PageOrder = { sorted: (pages) => [...pages], numberOf: () => undefined };

/** For browsers to whose pages no viewer gives a file. */
export const noUploads: Uploads = {
  begin() {
    throw new Error("no viewer gives files here");
  },
};
