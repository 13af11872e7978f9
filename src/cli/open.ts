import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Variables } from "../platform/base/environment.ts";
import { CommandError } from "./service.ts";

/** The program that opens a page as the desktop does. */
const opener = process.platform === "darwin" ? "open" : "xdg-open";

/**
 * Opens a page in the person's browser, where there is a desktop, and returns what to print. `url` must have no secret:
 * other users of the machine see the arguments of programs.
 */
export const openPage = async (url: string, env: Readonly<Variables>): Promise<string> => {
  const hasDesktop = process.platform === "darwin" || env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER;
  if (!hasDesktop) return url;
  const child = spawn(opener, [url], { stdio: "ignore", detached: true });
  const failed = once(child, "error").then(([error]) => {
    throw new CommandError(`${opener} does not start: ${error.message}; open ${url}`);
  });
  await Promise.race([once(child, "spawn"), failed]);
  failed.catch(() => undefined);
  child.unref();
  return url;
};
