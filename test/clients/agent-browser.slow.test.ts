/** agent-browser, unchanged: as it makes its sessions itself, and with a session of a pool (docs/clients.md). */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { documented, type Ran, ran, type Shop, shell, startShop } from "./client-run.ts";
import { acquireSession, pageTitles, releaseSession, serviceEnv } from "./client-session.ts";
import { npmClients } from "./installed.ts";

const clients = await npmClients();

let stack: LocalProject;
let shop: Shop;
let cwd: string;
/** With a home of its own: its process that stays between commands has its socket there. */
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  if (!clients) return;
  cwd = await mkdtemp(join(tmpdir(), "ab-"));
  shop = await startShop();
  stack = await startProject();
  const path = [join(clients, "node_modules/.bin"), process.env.PATH].join(delimiter);
  env = { ...serviceEnv(stack), PATH: path, HOME: cwd, TMPDIR: cwd, XDG_RUNTIME_DIR: cwd };
  await filledPool(stack.kernel, { name: "demo", size: 1 });
});
afterAll(async () => {
  if (clients) await agentBrowser(["close", "--all"]);
  await stack?.[Symbol.asyncDispose]();
  shop?.[Symbol.dispose]();
  if (cwd) await rm(cwd, { recursive: true });
});

const agentBrowser = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  ran("agent-browser", args, { env: { ...env, ...more }, cwd });

/** What a page gets of a file of its session that agent-browser names by its path. */
const uploaded = async ({ id, CDP_WS_URL }: { id: string; CDP_WS_URL: string }): Promise<string> => {
  const headers = { authorization: `Bearer ${stack.api_key}` };
  const file = `${stack.url}/browsers/${id}/fs/write_file?path=/tmp/note.txt`;
  expect((await fetch(file, { method: "PUT", headers, body: "by its path" })).status).toBe(204);
  const inSession = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await agentBrowser(["--session", "files", "--cdp", CDP_WS_URL, ...args]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout.trim();
  };
  await inSession("eval", `document.body.innerHTML = '<input type="file">'`);
  await inSession("upload", "input", "/tmp/note.txt");
  const text = await inSession("eval", "document.querySelector('input').files[0].text()");
  await inSession("close");
  return text;
};

// HTTP-43
describe.skipIf(!clients)("agent-browser", () => {
  test("makes a session as the provider kernel, uses it over several commands, and deletes it", async () => {
    const output = await shell(documented("sh", "KERNEL_ENDPOINT=", shop), { env, cwd });
    expect(output).toContain("\nfound tea\n");
    expect((await readFile(join(cwd, "shop.png"))).subarray(1, 4).toString()).toBe("PNG");
    const sessions = (await stack.kernel.browsers.list()).getPaginatedItems();
    expect(sessions).toMatchObject([{ headless: true, stealth: false, timeout_seconds: 300 }]);
    const id = sessions[0]?.session_id ?? "";
    expect(await pageTitles(stack, id)).toEqual(["Shop"]);
    await shell(documented("sh", "--provider kernel close", shop), { env, cwd });
    expect(await stack.kernel.browsers.retrieve(id, { include_deleted: true })).toMatchObject({
      end_reason: "deleted",
    });
  });

  test("makes another session as the provider when its own has ended, with the settings that it was given", async () => {
    const settings = { KERNEL_ENDPOINT: stack.url, KERNEL_TIMEOUT_SECONDS: "77" };
    const asProvider = (...args: string[]): Promise<Ran> =>
      agentBrowser(["--session", "another", "--provider", "kernel", ...args], settings);
    const idOfIts = async (): Promise<string> => {
      const [session] = (await stack.kernel.browsers.list()).getPaginatedItems();
      expect(session).toMatchObject({ timeout_seconds: 77 });
      return session?.session_id ?? "";
    };
    expect(await asProvider("open", shop.url)).toMatchObject({ code: 0 });
    const first = await idOfIts();
    await stack.kernel.browsers.deleteByID(first);
    expect(await asProvider("get", "url")).toMatchObject({ code: 0, stdout: "about:blank\n" });
    expect(await idOfIts()).not.toBe(first);
    expect(await asProvider("close")).toMatchObject({ code: 0 });
    expect((await stack.kernel.browsers.list()).getPaginatedItems()).toEqual([]);
  });

  test("is told as the provider why it gets no session", async () => {
    const settings = { KERNEL_ENDPOINT: stack.url, KERNEL_PROFILE_NAME: "nobody" };
    const { code, stderr } = await agentBrowser(["--session", "refused", "-p", "kernel", "open", shop.url], settings);
    expect(code).toBe(1);
    expect(stderr).toContain("no profile with name nobody in this project");
  });

  test("uses a session of a pool by its URL, leaves it, and is refused when it has ended", async () => {
    const session = await acquireSession(stack, { shop, cwd });
    const pooled = { ...env, CDP_WS_URL: session.CDP_WS_URL };
    expect(await shell(documented("sh", "AGENT_BROWSER_CDP", shop), { env: pooled, cwd })).toContain("\nfound tea\n");
    expect(await pageTitles(stack, session.id)).toEqual(["Shop"]);
    expect(await uploaded(session)).toBe('"by its path"');
    await releaseSession(stack, session.id);
    const { code, stderr } = await agentBrowser(["--session", "late", "--cdp", session.CDP_WS_URL, "get", "title"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("404 Not Found") });
  });
});
