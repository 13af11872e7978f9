/**
 * Chromium in namespaces of files and processes of its own, for an agent that shares its machine with other servers
 * (local mode): it sees the system's programs, read-only, its own folders, and its own processes. Made by bubblewrap,
 * which needs no right where user namespaces are allowed.
 */
import { realpathSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import type { ShownFolder } from "../../../core/agent/chromium-location.ts";
import { filesRoot } from "../../../core/agent/files-dir.ts";

/**
 * Everything that programs need of a Debian system, and nothing that is somebody's. What a machine lacks is left out.
 */
export const systemPaths: readonly string[] = [
  "/usr",
  "/bin",
  "/lib",
  "/lib32",
  "/lib64",
  "/sbin",
  "/opt",
  "/etc/alternatives",
  "/etc/chromium.d",
  "/etc/chromium/master_preferences",
  "/etc/drirc",
  "/etc/fonts",
  "/etc/glvnd",
  "/etc/ld.so.cache",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/pki/tls/certs",
  "/etc/ssl/certs",
  "/etc/timezone",
  "/etc/vulkan",
  "/sys/devices/system",
  "/var/cache/fontconfig",
];

type OwnView = {
  /** The folder that it sees as /etc/chromium/policies. */
  policies: string | undefined;
  /** The folder of its locales. */
  locales: ShownFolder | undefined;
  /** The X server, as `:5`. */
  display: string | undefined;
};

type Command = { program: string; args: string[] };

/** A program that is installed elsewhere brings its folder, and the folder that a link to it leads to. */
const foldersOf = (program: string): string[] => {
  if (!isAbsolute(program)) return [];
  const folders = [dirname(program), dirname(realpathSync(program))];
  return [...new Set(folders)].filter((folder) => !/^\/((usr|s?bin|lib\d*|opt)(\/|$)|$)/.test(folder));
};

const readOnly = (paths: readonly string[]): string[] => paths.flatMap((path) => ["--ro-bind-try", path, path]);

/** Of bubblewrap: the system of a program in namespaces of files and processes, with no right. */
export const ownSystem = (program: string): string[] => [
  ...["--unshare-user", "--unshare-pid", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"],
  ...readOnly([...systemPaths, ...foldersOf(program)]),
];

/**
 * Returns the function that gives the command by which a program runs with its own files. `folder` and `temp`: what it
 * may write to, at the places where they are; `filesDir`: the session's, which it sees as /tmp.
 */
export const ownFiles =
  ({ folder, temp, filesDir }: { folder: string; temp: string; filesDir: string }) =>
  ({ policies, locales, display }: OwnView, program: string, args: string[]): Command => ({
    program: "bwrap",
    args: [
      ...ownSystem(program),
      ...(policies === undefined ? [] : ["--ro-bind", policies, "/etc/chromium/policies"]),
      ...(locales === undefined ? [] : ["--ro-bind", locales.made, locales.shownAt]),
      ...["--bind", filesDir, filesRoot],
      ...(display === undefined ? [] : readOnly([`/tmp/.X11-unix/X${display.slice(1)}`])),
      ...[...new Set([folder, temp])].flatMap((one) => ["--bind", one, one]),
      ...["--", program, ...args],
    ],
  });
