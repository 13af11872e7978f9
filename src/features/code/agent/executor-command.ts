/**
 * How an executor is started. Whatever its code does, it reaches its pipes, and the files of the session:
 *
 * - it is kept apart (apart.ts): no network but an unused loopback, no other process, and no right over the agent's;
 * - Node's permission model: no child process, no worker, no add-on, no inspector; of files only what Playwright needs,
 *   and those of the session whose names don't begin with a dot, as the agent's own do.
 *
 * Nothing is inherited: no variable, and no descriptor but the pipes.
 */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import { filesRoot } from "../../../core/agent/files-dir.ts";
import { apartOnMachine, bounded, ownNamespaces, withoutRights } from "./apart.ts";

/** Of JavaScript's heap, MiB. */
const heapMib = 384;

/** A file may be as long as all that a session may have. */
const bounds = { dataBytes: 1024 ** 3, fileBytes: 1024 ** 3 };

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

/** In local mode it sees no folder that is somebody's, and this program at a place of its own. */
const onMachine: Seen & { node: string } = { appAt: "/app", filesAt: filesRoot, node: "/app/node" };

const shownOnMachine = (filesDir: string): string[] => [
  ...["--ro-bind", realpathSync(process.execPath), onMachine.node],
  ...ownPaths.flatMap((path) => ["--ro-bind", join(root, path), join(onMachine.appAt, path)]),
  ...["--bind", filesDir, onMachine.filesAt],
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
  const apart =
    seen === inPod ? [...ownNamespaces, ...withoutRights] : apartOnMachine("node", shownOnMachine(filesDir));
  return { ...bounded(bounds, [...apart, seen.node, ...nodeArgs(seen)]), filesAt: seen.filesAt };
};
