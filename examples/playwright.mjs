// Acquires a browser of the pool "demo", drives it with Playwright and releases it.
import Kernel from "@onkernel/sdk";
import { chromium } from "playwright-core";

const kernel = new Kernel({ baseURL: process.env.KERNEL_BASE_URL, apiKey: process.env.KERNEL_API_KEY });
const { session_id, cdp_ws_url } = await kernel.browserPools.acquire("demo", {});
try {
  const browser = await chromium.connectOverCDP(cdp_ws_url);
  const [context] = browser.contexts();
  const page = await context.newPage();
  await page.goto("data:text/html,<title>Hello from Playwright</title>");
  console.log(await page.title());
  await page.close();
  await browser.close(); // closes the connection, not the browser
} finally {
  await kernel.browserPools.release("demo", { session_id });
}
