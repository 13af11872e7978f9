/** A download that takes its time, from a site of this machine. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let finish = (): void => undefined;
const site = createServer((_request, response) => {
  response.writeHead(200, { "content-disposition": "attachment; filename=slow.bin" });
  response.write(Buffer.alloc(200_000));
  finish = () => response.end();
});
let stack: LocalProject;
beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  stack = await startProject();
});
afterAll(async () => {
  site.closeAllConnections();
  site.close();
  await stack?.[Symbol.asyncDispose]();
});

// FILE-8
test("a download has another name until it is whole", async () => {
  const { id: pool } = await filledPool(stack.kernel, { size: 1 });
  const session = await stack.kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
  const browser = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  const page = await browser.newPage();
  const { port } = site.address() as AddressInfo;
  // A download ends the navigation.
  await page.goto(`http://127.0.0.1:${port}/`).catch(() => undefined);
  const { fs } = stack.kernel.browsers;
  const seen = new Set<string>();
  const names = async (): Promise<string> => {
    const listed = await fs.listFiles(session.session_id, { path: "/tmp/downloads" });
    const text = listed.map(({ name }) => name).join();
    if (text !== "") seen.add(text);
    return text;
  };
  await eventually("it is under way", async () => (await names()) === "slow.bin.crdownload");
  finish();
  await eventually("it is whole", async () => (await names()) === "slow.bin");
  expect([...seen]).toEqual(["slow.bin.crdownload", "slow.bin"]);
  await browser.disconnect();
});
