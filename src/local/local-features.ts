import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { totalmem } from "node:os";
import { promisify } from "node:util";

const run = promisify(execFile);

const gib = 2 ** 30;

/** Longest trial, ms. */
const trialMs = 5000;

type Command = readonly [program: string, ...args: string[]];

const works = ([program, ...args]: Command): Promise<boolean> =>
  run(program, args, { timeout: trialMs }).then(
    () => true,
    () => false,
  );

/**
 * Whether this user may make the namespaces of a browser (start-wall.ts), tried out: some machines forbid them, as
 * containers with Docker's own seccomp profile do. `asUser`: the command that runs a command as another user.
 */
export const mayGetNamespaces = async (asUser = (command: Command): Command => command): Promise<boolean> => {
  const files = ["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"];
  const all = await Promise.all([
    works(asUser(["unshare", "--user", "--map-current-user", "--keep-caps", "--net", "true"])),
    works(asUser(["bwrap", ...files])),
  ]);
  return all.every(Boolean);
};

/** Where Debian has the program that gives Chromium a sandbox without user namespaces (package chromium-sandbox). */
const sandboxHelper = "/usr/lib/chromium/chrome-sandbox";

/** Why Chromium has no sandbox when this user starts it; undefined when it has one. */
export const whyNoSandbox = async (): Promise<"root" | "namespaces" | undefined> => {
  if (process.getuid?.() === 0) return "root";
  if (existsSync(sandboxHelper) || (await works(["unshare", "--user", "--map-current-user", "true"]))) return undefined;
  return "namespaces";
};

/**
 * What browsers on this machine can be given, as BROWSERPOOL_BROWSER_FEATURES names it. `isApart`: each has namespaces
 * of its own. A browser here may use the memory that the machine has. GPUs are not looked for.
 */
export const localFeatures = (isApart: boolean): string[] => [
  ...(isApart ? ["network", "chrome_policy", "loopback"] : []),
  ...(totalmem() >= 16 * gib ? ["memory_16GiB"] : []),
];
