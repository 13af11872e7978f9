/**
 * How a process of a holder is started. Whatever it is, it reaches its own pipes, the system's programs, and the files
 * of the session:
 *
 * - it is kept apart as code is (features/code/agent/apart.ts): no network but an unused loopback, no other process, and
 *   no right over the agent's;
 * - in a pod its minder (minder.pl) keeps it to these files by Landlock, and refuses sockets with a path and changes of
 *   rights by a path by seccomp: no namespaces of files are there. In local mode bubblewrap does it;
 * - bounds of memory, of files, and of how many processes it may be.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import { filesRoot } from "../../../core/agent/files-dir.ts";
import { apartOnMachine, bounded, ownNamespaces, withoutRights } from "../../code/agent/apart.ts";
import { systemPaths } from "../../network/agent/own-files.ts";

/** Of all that one process writes to, and of a file, bytes. A file may be as long as all that a session may have. */
const bounds = { dataBytes: 512 * 1024 ** 2, fileBytes: 1024 ** 3 };

/** Processes and threads at once, with the minder's own. */
const mostTasks = 128;

/** The folder of the session that a process starts in and has for its home; made when it is missing. */
const workFolder = "work";

const minder = fileURLToPath(new URL("minder.pl", import.meta.url));
const minderOnMachine = "/app/minder.pl";

const devices = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"].map((name) => `/dev/${name}`);

const limited = ["prlimit", `--nproc=${mostTasks}`, "--"];

const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const option = (name: string, values: readonly string[]): string[] => values.flatMap((value) => [`--${name}`, value]);

export type ProcessCommand = {
  program: string;
  args: string[];
  /** The folder that must be there. */
  workDir: string;
  /** Where a process finds a folder of the session that its holder knows as one below /tmp. */
  seenAt(path: string): string;
  /** What it has of variables. */
  env: Record<string, string>;
};

/** The command for this agent. */
export const processCommand = ({ filesDir, ownPorts }: Pick<AgentConfig, "filesDir" | "ownPorts">): ProcessCommand => {
  const isPod = ownPorts === undefined;
  const filesAt = isPod ? filesDir : filesRoot;
  const work = join(filesAt, workFolder);
  const reach = [...option("read", systemPaths), ...option("write", devices), "--files", filesDir];
  const shown = ["--ro-bind", minder, minderOnMachine, "--bind", filesDir, filesRoot];
  const command = isPod
    ? [...ownNamespaces, ...limited, ...withoutRights, "perl", minder, ...reach]
    : [...apartOnMachine("perl", shown), ...limited, "perl", minderOnMachine];
  return {
    ...bounded(bounds, command),
    workDir: join(filesDir, workFolder),
    seenAt: (path) => join(filesAt, path.slice(filesRoot.length)),
    env: { PATH: usualPath, HOME: work, TMPDIR: work, LANG: "C.UTF-8" },
  };
};
