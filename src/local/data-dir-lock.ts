/**
 * Allows one run at a time on a data directory. The lock is a socket in the kernel's abstract namespace, named after
 * the directory: a process takes it in one step, and it vanishes with the process, so no lock can be stale. A file in
 * the directory tells users and the next run which process holds or held it.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";

/** Another live process has the lock. */
export class DataDirInUse extends Error {
  override name = "DataDirInUse";
}

type DataDirLock = {
  /**
   * True when the machine was rebooted since the last run on this directory: none of that run's processes can be alive.
   */
  isAfterReboot: boolean;
  release(): Promise<void>;
};

const ownerFile = (dataDir: string): string => join(dataDir, "run", "owner.json");

type Owner = { pid?: number; bootId?: string };

const readOwner = async (dataDir: string): Promise<Owner> => {
  try {
    return JSON.parse(await readFile(ownerFile(dataDir), "utf8"));
  } catch {
    return {};
  }
};

const bindLock = async (dataDir: string): Promise<ReturnType<typeof createServer>> => {
  const digest = createHash("sha256")
    .update(await realpath(dataDir))
    .digest("hex")
    .slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  server.listen(`\0browserpool/${process.getuid?.() ?? 0}/${digest}`);
  await once(server, "listening");
  return server.unref();
};

/**
 * Takes the lock, and makes the directory (for this user only) if it is missing. Throws when another live process has
 * the lock.
 */
export const lockDataDir = async (dataDir: string): Promise<DataDirLock> => {
  await mkdir(join(dataDir, "run"), { recursive: true, mode: 0o700 });
  const former = await readOwner(dataDir);
  const server = await bindLock(dataDir).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EADDRINUSE") throw cause;
    const holder = former.pid ? `process ${former.pid}` : "another process";
    throw new DataDirInUse(`${dataDir} is in use by ${holder}: stop it, or choose another directory with --data-dir`, {
      cause,
    });
  });
  const bootId = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  await writeFile(ownerFile(dataDir), JSON.stringify({ pid: process.pid, bootId }), { mode: 0o600 });
  return {
    isAfterReboot: former.bootId !== undefined && former.bootId !== bootId,
    async release() {
      server.close();
      await once(server, "close");
    },
  };
};
