/**
 * Opens the console in the person's browser, signed in.
 *
 *   API key ──POST /console/codes──► one-time code ──► file of this user ──► the browser goes on to /console#code=…
 *
 * The code is no argument of a program: other users of the machine see those.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Variables } from "../platform/base/environment.ts";
import { CommandError, call, Refused, type Service } from "./service.ts";

/** The URL that opens the console once, without an API key; that of the documentation where there is no console. */
export const consoleUrl = async (service: Service, signal: AbortSignal): Promise<string> => {
  try {
    const made = await call<{ code: string }>(service, "/console/codes", { method: "POST", signal });
    return `${service.url}/console#code=${made?.code}`;
  } catch (error) {
    if (error instanceof Refused && error.code === "not_found") return `${service.url}/docs`;
    throw error;
  }
};

/** The program that opens a page as the desktop does. */
const opener = process.platform === "darwin" ? "open" : "xdg-open";

const hasDesktop = (env: Readonly<Variables>): boolean =>
  process.platform === "darwin" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER);

/** How long the browser has to read the file, ms. */
const readMs = 10_000;

const start = async (path: string, url: string): Promise<void> => {
  const child = spawn(opener, [path], { stdio: "ignore", detached: true });
  const failed = once(child, "error").then(([error]) => {
    throw new CommandError(`${opener} does not start: ${error.message}; open ${url}`);
  });
  await Promise.race([once(child, "spawn"), failed]);
  failed.catch(() => undefined);
  child.unref();
};

/** Opens a page in the person's browser, where there is a desktop; resolves when the browser has had time to read it. */
export const openPage = async (url: string, env: Readonly<Variables>, signal: AbortSignal): Promise<void> => {
  if (!hasDesktop(env)) return;
  const folder = await mkdtemp(join(tmpdir(), "browserpool-open-"));
  try {
    const path = join(folder, "open.html");
    const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${url}">`;
    await writeFile(path, page, { mode: 0o600 });
    await start(path, url);
    await sleep(readMs, undefined, { signal }).catch(() => undefined);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
