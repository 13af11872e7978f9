/**
 * How an executor is started. Whatever its code does, it reaches its pipes, and the files of the session:
 *
 * - namespaces: no network but an unused loopback, no other process, and no right over the agent's (the kernel lets
 *   nobody trace a process of an outer user namespace); in local mode files of its own, too, as its browser has them;
 * - Node's permission model: no child process, no worker, no add-on, no inspector; of files only what Playwright needs,
 *   and those of the session whose names don't begin with a dot, as the agent's own do;
 * - bounds of memory, and the first place when memory runs out.
 *
 * Nothing is inherited: no variable, and no descriptor but the pipes.
 */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import { filesRoot } from "../../../core/agent/files-dir.ts";
import { ownSystem } from "../../network/agent/own-files.ts";

/** Of JavaScript's heap, and of all that a process writes to, MiB. */
const heapMib = 384;
const dataMib = 1024;

/** Longest file that it writes, bytes: as much as a session may have. */
const fileBytes = 1024 ** 3;

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** What it runs of this program, below `root`. */
const ownPaths = [
  "package.json",
  "src/features/code",
  "node_modules/acorn",
  "node_modules/playwright-core",
  "node_modules/ws",
];

/** What names of a session's files may begin with: whatever is printable, but for a dot, `/`, and what flags read. */
const firstLetters = Array.from({ length: 94 }, (_none, at) => String.fromCharCode(33 + at)).filter(
  (letter) => !"./*,".includes(letter),
);

/** `appAt`: where it sees this program; `filesAt`: the files of the session. */
type Seen = { appAt: string; filesAt: string };

const nodeArgs = ({ appAt, filesAt }: Seen): string[] => [
  "--permission",
  ...ownPaths.map((path) => `--allow-fs-read=${join(appAt, path)}`),
  ...firstLetters.flatMap((letter) => ["read", "write"].map((kind) => `--allow-fs-${kind}=${join(filesAt, letter)}*`)),
  `--max-old-space-size=${heapMib}`,
  "--disable-warning=ExperimentalWarning",
  join(appAt, "src/features/code/executor/main.ts"),
];

const bounds = [
  "--adjust",
  "1000",
  "--",
  "prlimit",
  `--data=${dataMib * 1024 ** 2}`,
  `--fsize=${fileBytes}`,
  "--core=0",
];

/** In local mode it sees no folder that is somebody's, and this program at a place of its own. */
const onMachine: Seen & { node: string } = { appAt: "/app", filesAt: filesRoot, node: "/app/node" };

const apartOnMachine = (filesDir: string): string[] => [
  ...["bwrap", "--die-with-parent", "--unshare-net", "--unshare-ipc", ...ownSystem("node")],
  ...["--ro-bind", realpathSync(process.execPath), onMachine.node],
  ...ownPaths.flatMap((path) => ["--ro-bind", join(root, path), join(onMachine.appAt, path)]),
  ...["--bind", filesDir, onMachine.filesAt, "--"],
];

/**
 * Namespaces of network and processes in a pod, whose seccomp profile has these and no `mount`. In them a program has
 * rights.
 */
export const ownNamespaces: readonly string[] = [
  ...["unshare", "--user", "--map-current-user", "--keep-caps", "--net", "--pid", "--fork", "--kill-child", "--"],
];

/** Takes these rights away. */
export const withoutRights: readonly string[] = [
  ...["setpriv", "--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--"],
];

export type ExecutorCommand = {
  program: string;
  args: string[];
  /** Where it sees the files of the session. */
  filesAt: string;
};

/** The command for this agent. */
export const executorCommand = ({
  filesDir,
  ownPorts,
}: Pick<AgentConfig, "filesDir" | "ownPorts">): ExecutorCommand => {
  const inPod = { appAt: root, filesAt: filesDir, node: process.execPath };
  const seen = ownPorts === undefined ? inPod : onMachine;
  const apart = seen === inPod ? [...ownNamespaces, ...withoutRights] : apartOnMachine(filesDir);
  return { program: "choom", args: [...bounds, ...apart, seen.node, ...nodeArgs(seen)], filesAt: seen.filesAt };
};

/** Whether a program that makes the namespaces says that it may not. */
export const lacksNamespaces = (stderr: string): boolean =>
  /^(bwrap|unshare): .*(namespace|unshare failed|permi)/im.test(stderr);
