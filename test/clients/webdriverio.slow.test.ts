/** webdriverio, unchanged, by WebDriver over HTTP, as docs/clients.md has it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { brokenOff, documented, type Ran, ran, type Shop, startShop } from "./client-run.ts";
import { acquireSession, endInScript, endVariables, pageTitles } from "./client-session.ts";
import { npmClients } from "./installed.ts";

const clients = await npmClients();

let stack: LocalProject;
let shop: Shop;
let folder: string;
beforeAll(async () => {
  if (!clients) return;
  folder = await mkdtemp(join(tmpdir(), "wdio-"));
  shop = await startShop();
  stack = await startProject();
  await filledPool(stack.kernel, { name: "demo", size: 1 });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  shop?.[Symbol.dispose]();
  if (folder) await rm(folder, { recursive: true });
});

// WDC-1
test.skipIf(!clients)("webdriverio drives a session, leaves it, and says that it has ended", async () => {
  const { id, ...urls } = await acquireSession(stack, { shop, cwd: folder });
  const lines = documented("js", 'from "webdriverio"', shop);
  const run = (input: string): Promise<Ran> =>
    ran(process.execPath, ["--input-type=module"], {
      ...{ input, cwd: clients ?? "" },
      env: { ...endVariables(stack, id), ...urls, TMPDIR: folder },
    });
  const { code, stdout, stderr } = await run(lines);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^found tea\n\d{4,}\n$/);
  expect(await pageTitles(stack, id)).toEqual(["Shop"]);
  const cut = await run(
    brokenOff(lines, "await browser.deleteSession();", `${endInScript}\nawait browser.getTitle();`),
  );
  for (const { code: failed, stderr: told } of [cut, await run(lines)]) {
    expect(failed).toBe(1);
    expect(told).toContain(`session ${id} has ended`);
  }
});
