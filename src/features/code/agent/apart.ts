/**
 * How programs that a holder decides about are kept apart from the agent, the browser and the network:
 *
 * - in a pod by namespaces of network and processes, whose seccomp profile has these and no `mount`. The kernel lets
 *   nobody trace a process of an outer user namespace, so memory and variables of the agent stay its own;
 * - on a machine that is not the browser's own (local mode) by namespaces of files, too, as its browser has them.
 *
 * All of them have bounds of memory, and the first place when memory runs out.
 */
import { ownSystem } from "../../network/agent/own-files.ts";

/** In these a program has rights. */
export const ownNamespaces: readonly string[] = [
  ...["unshare", "--user", "--map-current-user", "--keep-caps", "--net", "--pid", "--fork", "--kill-child", "--"],
];

/** Takes these rights away. */
export const withoutRights: readonly string[] = [
  ...["setpriv", "--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--"],
];

/** In local mode. `shown`: what it sees besides the system, as bubblewrap's arguments. */
export const apartOnMachine = (program: string, shown: readonly string[]): string[] => [
  ...["bwrap", "--die-with-parent", "--unshare-net", "--unshare-ipc", ...ownSystem(program), ...shown, "--"],
];

/** `dataBytes`: of all that a process writes to. `fileBytes`: of a file. */
type Bounds = { dataBytes: number; fileBytes: number };

/** The command that runs the rest of it, `apart`, within these bounds. */
export const bounded = (
  { dataBytes, fileBytes }: Bounds,
  apart: readonly string[],
): { program: string; args: string[] } => ({
  program: "choom",
  args: ["--adjust", "1000", "--", "prlimit", `--data=${dataBytes}`, `--fsize=${fileBytes}`, "--core=0", ...apart],
});

/** Whether a program that makes the namespaces says that it may not. */
export const lacksNamespaces = (stderr: string): boolean =>
  /^(bwrap|unshare): .*(namespace|unshare failed|permi)/im.test(stderr);
