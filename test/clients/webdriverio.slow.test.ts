/** webdriverio, unchanged, by WebDriver over HTTP, as docs/clients.md has it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { documented, type Ran, ran, type Shop, startShop } from "./client-run.ts";
import { acquireSession, pageTitles, releaseSession } from "./client-session.ts";
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
  const run = (): Promise<Ran> =>
    ran(process.execPath, ["--input-type=module"], {
      ...{ input: lines, cwd: clients ?? "" },
      env: { ...urls, TMPDIR: folder },
    });
  const { code, stdout, stderr } = await run();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^found tea\n\d{4,}\n$/);
  expect(await pageTitles(stack, id)).toEqual(["Shop"]);
  await releaseSession(stack, id);
  const late = await run();
  expect(late.code).toBe(1);
  expect(late.stderr).toContain(`session ${id} has ended`);
});
