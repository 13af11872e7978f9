// Acquires a browser of the pool "demo", drives it with Puppeteer and releases it.
import Kernel from "@onkernel/sdk";
import puppeteer from "puppeteer-core";

const kernel = new Kernel({ baseURL: process.env.KERNEL_BASE_URL, apiKey: process.env.KERNEL_API_KEY });
const { session_id, cdp_ws_url } = await kernel.browserPools.acquire("demo", {});
try {
  // Without `defaultViewport: null` Puppeteer sets its own viewport of 800 by 600.
  const browser = await puppeteer.connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
  const page = await browser.newPage();
  await page.goto("data:text/html,<title>Hello from Puppeteer</title>");
  console.log(await page.title());
  await page.close();
  await browser.disconnect();
} finally {
  await kernel.browserPools.release("demo", { session_id });
}
