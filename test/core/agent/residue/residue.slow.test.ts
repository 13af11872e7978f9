/**
 * What a holder leaves behind, looked for by the next one in a real browser: after a reset, and in a kept browser as
 * control.
 */
import { chmodSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { extraProcesses, extraProcessName, type Holder, rows } from "./rows.ts";
import { type Site, startSite } from "./site.ts";

const program = { true: "chromium-headless-shell", false: "chromium" };

/** A Chromium that starts a process in a session of its own, as a program that daemonizes does. */
const writeWrapper = (folder: string, headless: boolean, dir: string): string => {
  const path = join(folder, "chromium.sh");
  const extra = `setsid sh -c 'sleep 1000; :' ${extraProcessName(dir)} >/dev/null 2>&1 </dev/null &`;
  writeFileSync(path, `#!/bin/sh\n${extra}\nexec ${program[`${headless}`]} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
};

type Found = Map<string, boolean>;

describe.each([
  { headless: true, reuse: "reset", takesKept: true },
  { headless: true, reuse: "keep", takesKept: true },
  { headless: true, reuse: "keep", takesKept: false },
  { headless: false, reuse: "reset", takesKept: true },
  { headless: false, reuse: "keep", takesKept: true },
] as const)(
  "a browser, headless: $headless, that comes back by $reuse, for a lease that takes a kept one: $takesKept",
  ({ headless, reuse, takesKept }) => {
    const agents = createTestAgents();
    const found: Found = new Map();
    const folders: string[] = [];
    let agent: TestAgent;
    let site: Site;

    const folder = async (): Promise<string> => {
      const path = await mkdtemp(join(tmpdir(), "residue-"));
      folders.push(path);
      return path;
    };
    const asHolder = async (session: string, seq: number, rest: Omit<Holder, "browser" | "context" | "page">) => {
      expect((await agent.bind(session, seq, { takes_kept: takesKept })).status).toBe(200);
      const browser = await agent.connect(session);
      const context = browser.defaultBrowserContext();
      const page = await browser.newPage();
      await page.goto(rest.site.url);
      return { ...rest, browser, context, page };
    };

    beforeAll(async () => {
      site = await startSite();
      const [dir, sharedMemory, programs] = [await folder(), await folder(), await folder()];
      const wrapper = writeWrapper(programs, headless, dir);
      agent = await agents.start(
        { headless },
        {
          env: {
            BROWSERPOOL_AGENT_DATA_DIR: dir,
            BROWSERPOOL_AGENT_SCRATCH_DIRS: `${dir}:${sharedMemory}`,
            BROWSERPOOL_CHROMIUM: wrapper,
            BROWSERPOOL_CHROMIUM_HEADLESS: wrapper,
          },
        },
      );
      const rest = { site, dir, sharedMemory, memory: {} };
      const first = await asHolder("first", 1, rest);
      for (const row of rows) await row.leave(first);
      expect((await agent.release("first", 1, reuse)).status).toBe(200);
      expect((await agent.call("GET", "/reset")).status).toBe(200);

      const second = await asHolder("second", 2, rest);
      for (const row of rows) found.set(row.what, await row.isFound(second));
      await second.browser.disconnect();
      // Each leads a group, of which its own child is.
      for (const pid of extraProcesses(dir)) process.kill(-Number(pid), "SIGKILL");
    }, 120_000);
    afterAll(async () => {
      await agents[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
      for (const path of folders) await rm(path, { recursive: true, force: true, maxRetries: 5 });
    });

    // LEASE-28, LEASE-29, LEASE-63
    test.each(rows)("$what", ({ what, kept }) => {
      expect(found.get(what)).toBe(reuse === "keep" && takesKept && kept);
    });
  },
);
