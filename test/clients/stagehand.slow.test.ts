/**
 * Stagehand, unchanged, without a model, as docs/clients.md has it. Its extension connects from inside the browser, which
 * in local mode reaches no port of the service: a relay is in front of it, as docs/clients.md says.
 */
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BreakableLink, startBreakableLink } from "../support/breakable-link.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { brokenOff, documented, type Ran, ran, type Shop, shell, startShop } from "./client-run.ts";
import { endInScript, endVariables, pageTitles, serviceEnv } from "./client-session.ts";
import { npmClients } from "./installed.ts";

const clients = await npmClients();

let stack: LocalProject;
let shop: Shop;
let relay: BreakableLink;
let cwd: string;
beforeAll(async () => {
  if (!clients) return;
  cwd = await mkdtemp(join(tmpdir(), "stagehand-"));
  await symlink(join(clients, "node_modules"), join(cwd, "node_modules"));
  shop = await startShop();
  stack = await startProject();
  relay = await startBreakableLink(Number(new URL(stack.url).port));
});
afterAll(async () => {
  relay?.close();
  await stack?.[Symbol.asyncDispose]();
  shop?.[Symbol.dispose]();
  if (cwd) await rm(cwd, { recursive: true });
});

// HTTP-43
test.skipIf(!clients)(
  "Stagehand drives a session with its extension, leaves it, and says that it has ended",
  async () => {
    const env = serviceEnv({ url: `http://127.0.0.1:${relay.port}`, api_key: stack.api_key });
    const acquiring = `${documented("sh", "name=stagehand", shop)}printf '\\n%s' "$CDP_WS_URL"`;
    const CDP_WS_URL = (await shell(acquiring, { env, cwd })).split("\n").at(-1) ?? "";
    const [, , id = ""] = new URL(CDP_WS_URL).pathname.split("/");
    const lines = documented("js", "localBrowser.connect", shop);
    const run = (input: string): Promise<Ran> =>
      ran(process.execPath, ["--input-type=module"], {
        ...{ input, cwd: clients ?? "" },
        env: { ...endVariables(stack, id), CDP_WS_URL, TMPDIR: cwd },
      });
    const { code, stdout, stderr } = await run(lines);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/found tea\n\d{4,}\n/);
    expect(await pageTitles(stack, id)).toContain("Shop");
    const cut = await run(brokenOff(lines, "await stagehand.close();", `${endInScript}\nawait page.title();`));
    expect(cut.code).toBe(1);
    expect(cut.stderr).toContain("close code 4000: the session has ended: deleted");
    const late = await run(lines);
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining("CDP WebSocket") });
  },
);
