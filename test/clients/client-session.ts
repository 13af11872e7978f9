/** Sessions of a pool, as docs/clients.md acquires them, for clients that know nothing of the service. */
import type { LocalProject } from "../support/stack.ts";
import { documented, type Shop, shell } from "./client-run.ts";

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
