import type { PageOrder } from "../../src/agent/page-order.ts";

/** The order in which Chromium lists its pages: for tests that have one page, or look at no order. */
export const listedOrder: PageOrder = { sorted: (pages) => [...pages] };
