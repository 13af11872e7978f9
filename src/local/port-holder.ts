import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";

/** The state LISTEN in /proc/net/tcp. */
const listening = "0A";

/** The inodes of the sockets that listen on this port, whatever the address. */
const listenersOf = async (port: number): Promise<Set<string>> => {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  const rows = tables.flatMap((table) => table.split("\n").slice(1)).map((line) => line.trim().split(/\s+/));
  const found = rows.filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === listening);
  return new Set(found.map((row) => row[9] ?? ""));
};

/**
 * The process that listens on a port: "node (process 4711)". Undefined when it is another user's, or the system does
 * not tell.
 */
export const portHolder = async (port: number): Promise<string | undefined> => {
  const inodes = await listenersOf(port);
  if (inodes.size === 0) return undefined;
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
    if (!targets.some((target) => inodes.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? ""))) continue;
    const program = await readlink(`/proc/${pid}/exe`).catch(() => "a program");
    return `${basename(program)} (process ${pid})`;
  }
  return undefined;
};
