/** browser-use, unchanged, without a model: its session and its tools, as docs/clients.md has them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { documented, type Ran, ran, type Shop, startShop } from "./client-run.ts";
import { acquireSession, pageTitles, releaseSession } from "./client-session.ts";
import { pythonWithBrowserUse } from "./installed.ts";

const python = await pythonWithBrowserUse();

let stack: LocalProject;
let shop: Shop;
let cwd: string;
beforeAll(async () => {
  if (!python) return;
  cwd = await mkdtemp(join(tmpdir(), "bu-"));
  shop = await startShop();
  stack = await startProject();
  await filledPool(stack.kernel, { name: "demo", size: 1 });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  shop?.[Symbol.dispose]();
  if (cwd) await rm(cwd, { recursive: true });
});

// HTTP-43
test.skipIf(!python)("browser-use drives a session, leaves it, and says that it has ended", async () => {
  const { id, CDP_WS_URL } = await acquireSession(stack, { shop, cwd });
  const env = { CDP_WS_URL, HOME: cwd, TMPDIR: cwd, ANONYMIZED_TELEMETRY: "false", PYTHONDONTWRITEBYTECODE: "1" };
  const run = (): Promise<Ran> =>
    ran(python ?? "", ["-"], { input: documented("python", "cdp_url=os", shop), env, cwd });
  const { code, stdout, stderr } = await run();
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toMatch(/found tea\n\d{4,}\n/);
  expect(await pageTitles(stack, id)).toEqual(["Shop"]);
  await releaseSession(stack, id);
  const late = await run();
  expect(late.code).toBe(1);
  expect(late.stderr).toContain("server rejected WebSocket connection: HTTP 404");
});
