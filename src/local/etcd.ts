import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../platform/base/log.ts";
import { type SupervisedChild, superviseChild } from "../platform/process/supervised-child.ts";
import type { Programs } from "./locate-programs.mjs";
import { requiredProgram } from "./required-program.ts";

/**
 * etcd listens on sockets in a folder that only this user can enter: it checks no users itself, so a port, even on
 * loopback, would show every secret to all users of the machine. The names are relative to that folder, which keeps
 * them below the 108 bytes of a socket's path. etcd requires the form `host:port` and uses it as the file's name.
 */
const clientSocket = "etcd:1";
const peerSocket = "etcd:2";

export type Etcd = SupervisedChild & {
  /** The value for `--etcd-servers`, in a process whose working directory is `socketDir`. */
  endpoint: string;
  socketDir: string;
};

type EtcdOptions = {
  dataDir: string;
  programs: Programs;
  log: Logger;
  /** Tests only: a power failure may lose or break the data. */
  unsafeNoFsync?: boolean | undefined;
  signal?: AbortSignal | undefined;
};

/** Largest size of the database file, bytes; etcd reuses the space of deleted revisions. */
const quotaBytes = 4 * 1024 ** 3;

/** Starts etcd on unix sockets in `<dataDir>/run`, and again when it ends by itself. Resolves when it answers. */
export const startEtcd = async ({ dataDir, programs, log, unsafeNoFsync, signal }: EtcdOptions): Promise<Etcd> => {
  const socketDir = join(dataDir, "run");
  await mkdir(socketDir, { recursive: true, mode: 0o700 });
  const socket = join(socketDir, clientSocket);
  await rm(socket, { force: true });
  const child = await superviseChild({
    dataDir,
    name: "etcd",
    command: [
      requiredProgram(programs, "etcd"),
      "--name=local",
      `--data-dir=${join(dataDir, "etcd")}`,
      `--listen-client-urls=unix://${clientSocket}`,
      `--advertise-client-urls=unix://${clientSocket}`,
      `--listen-peer-urls=unix://${peerSocket}`,
      `--initial-advertise-peer-urls=unix://${peerSocket}`,
      `--initial-cluster=local=unix://${peerSocket}`,
      `--quota-backend-bytes=${quotaBytes}`,
      "--log-level=warn",
      ...(unsafeNoFsync ? ["--unsafe-no-fsync"] : []),
    ],
    env: {},
    cwd: socketDir,
    logPath: join(dataDir, "logs", "etcd.log"),
    log,
    isReady: async () => (await stat(socket)).isSocket(),
    readyWithinMs: 60_000,
    stopGraceMs: 5000,
    signal,
  });
  return { endpoint: `unix://${clientSocket}`, socketDir, stop: child.stop };
};
