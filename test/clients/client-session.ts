/** Sessions of a pool, as docs/clients.md acquires them, for clients that know nothing of the service. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { documented, type Shop, shell, startShop } from "./client-run.ts";

/** `cwd`: a folder of the test's own. */
type ClientParts = { stack: LocalProject; shop: Shop; cwd: string };

/** A project with a pool `demo` of one browser, while the tests of a file run; nothing when the client is not installed. */
export const startClientParts = (isInstalled: boolean): ClientParts => {
  const parts = {} as ClientParts;
  beforeAll(async () => {
    if (!isInstalled) return;
    parts.cwd = await mkdtemp(join(tmpdir(), "client-"));
    parts.shop = await startShop();
    parts.stack = await startProject();
    await filledPool(parts.stack.kernel, { name: "demo", size: 1 });
  });
  afterAll(async () => {
    await parts.stack?.[Symbol.asyncDispose]();
    parts.shop?.[Symbol.dispose]();
    if (parts.cwd) await rm(parts.cwd, { recursive: true });
  });
  return parts;
};

/** The variables that the lines of docs/clients.md read. */
export const serviceEnv = ({ url, api_key }: { url: string; api_key: string }): NodeJS.ProcessEnv => ({
  KERNEL_BASE_URL: url,
  KERNEL_API_KEY: api_key,
});

/** What the lines of docs/clients.md make of an acquire. */
type ClientSession = { id: string; CDP_WS_URL: string; BASE_URL: string };

/** Acquires a browser of the pool `demo` by the lines of docs/clients.md. */
export const acquireSession = async (
  service: { url: string; api_key: string },
  { shop, cwd }: { shop: Shop; cwd: string },
): Promise<ClientSession> => {
  const lines = `${documented("sh", "/browser_pools/demo/acquire", shop)}printf '%s %s' "$CDP_WS_URL" "$BASE_URL"`;
  const [CDP_WS_URL = "", BASE_URL = ""] = (await shell(lines, { env: serviceEnv(service), cwd })).split(" ");
  return { id: new URL(BASE_URL).pathname.split("/").at(-1) ?? "", CDP_WS_URL, BASE_URL };
};

/** The titles of the pages that a session has; so it goes on. */
export const pageTitles = async ({ call }: Pick<LocalProject, "call">, id: string): Promise<string[]> => {
  const answer = await call("GET", `/browsers/${id}/json/list`);
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  const targets = (await answer.json()) as { type: string; title: string }[];
  return targets.filter(({ type }) => type === "page").map(({ title }) => title);
};

/** A program ends the session in its midst: `endVariables` are its variables, and this is a line of JavaScript. */
export const endInScript = `await fetch(process.env.SESSION, { method: "DELETE", headers: { authorization: process.env.AUTHORIZATION } });`;

/** What `endInScript` reads. */
export const endVariables = ({ url, api_key }: { url: string; api_key: string }, id: string): NodeJS.ProcessEnv => ({
  SESSION: `${url}/browsers/${id}`,
  AUTHORIZATION: `Bearer ${api_key}`,
});

/** Releases a session of the pool `demo`: its lease has ended when this resolves. */
export const releaseSession = async ({ kernel }: Pick<LocalProject, "kernel">, session_id: string): Promise<void> =>
  void (await kernel.browserPools.release("demo", { session_id }));
