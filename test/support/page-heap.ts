import type { Page } from "puppeteer-core";

/** What a page keeps after a collection, bytes. */
export const heapOf = async (page: Page): Promise<number> => {
  const cdp = await page.createCDPSession();
  await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  await cdp.detach();
  return usedSize;
};
