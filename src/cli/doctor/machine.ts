/** What `browserpool doctor` looks at on a machine that runs local mode. */
import { execFile } from "node:child_process";
import { readFile, statfs } from "node:fs/promises";
import { createConnection } from "node:net";
import { availableParallelism, freemem } from "node:os";
import { promisify } from "node:util";
import { mayGetNamespaces } from "../../local/local-features.ts";
import { locatePrograms, type Programs } from "../../local/locate-programs.mjs";
import type { Check, Finding } from "./finding.ts";

const run = promisify(execFile);

type Found = Omit<Finding, "name">;

const ok = (says: string): Found => ({ state: "ok", says });
const problem = (says: string, wayOut: string): Found => ({ state: "problem", says, wayOut });
const warning = (says: string, wayOut: string): Found => ({ state: "warning", says, wayOut });

/** The number that a file of /proc has; undefined where there is no such file. */
const numberIn = async (path: string): Promise<number | undefined> => {
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text === undefined ? undefined : Number(text);
};

const oldestNode = 24;

const node: Check = {
  name: "Node",
  async find() {
    const { node: version } = process.versions;
    return Number.parseInt(version, 10) >= oldestNode
      ? ok(version)
      : problem(`${version} is too old`, `install Node ${oldestNode} or newer; npm start brings its own`);
  },
};

/** A program that is asked for its version. */
const program = (
  name: string,
  path: string | undefined,
  { args, isNeeded, wayOut }: { args: string[]; isNeeded: boolean; wayOut: string },
): Check => ({
  name,
  async find(signal) {
    if (!path) return (isNeeded ? problem : warning)("not found", wayOut);
    const { stdout, stderr } = await run(path, args, { signal, timeout: 10_000 }).catch((error: Error) => {
      throw new Error(`${path} does not run: ${error.message.split("\n")[0]}`);
    });
    const [first = ""] = (stdout || stderr).trim().split("\n");
    return ok(`${/\d+(\.\d+)+/.exec(first)?.[0] ?? first} (${path})`);
  },
});

const install = "npm start installs it on Debian as root, and says the command elsewhere";

const programs = (found: Programs): Check[] => [
  program("Redis", found["redis-server"], { args: ["--version"], isNeeded: true, wayOut: install }),
  program("etcd", found.etcd, { args: ["--version"], isNeeded: true, wayOut: "npm start gets it" }),
  program("kube-apiserver", found["kube-apiserver"], {
    args: ["--version"],
    isNeeded: true,
    wayOut: "npm start gets it",
  }),
  program("kubectl", found.kubectl, {
    args: ["version", "--client"],
    isNeeded: false,
    wayOut: "only people use it; npm run kubectl gets it",
  }),
  program("Chromium", found.chromium, {
    args: ["--version"],
    isNeeded: false,
    wayOut: `pools with headless: false need it; ${install}, or set BROWSERPOOL_CHROMIUM`,
  }),
  program("headless Chromium", found["chromium-headless-shell"], {
    args: ["--version"],
    isNeeded: true,
    wayOut: `${install}, or set BROWSERPOOL_CHROMIUM_HEADLESS`,
  }),
  program("ffmpeg", found.ffmpeg, { args: ["-version"], isNeeded: false, wayOut: `recordings need it; ${install}` }),
];

/** Why a machine gives its users no namespaces, and what changes that. */
const namespaceObstacles = async (): Promise<string> => {
  if ((await numberIn("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")) === 1)
    return "AppArmor forbids them (Ubuntu 23.10 and newer); allow them until the next boot:\nsudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  if ((await numberIn("/proc/sys/kernel/unprivileged_userns_clone")) === 0)
    return "the kernel forbids them; allow them until the next boot:\nsudo sysctl -w kernel.unprivileged_userns_clone=1";
  if ((await numberIn("/proc/sys/user/max_user_namespaces")) === 0)
    return "the kernel allows none; allow some until the next boot:\nsudo sysctl -w user.max_user_namespaces=15000";
  return "install bubblewrap, util-linux and iproute2; in a container, allow them by its seccomp profile";
};

const namespaces: Check = {
  name: "namespaces",
  async find() {
    if (await mayGetNamespaces()) return ok("each browser gets its own files, processes and network");
    return warning(
      "browsers get none: they share this user's files and ports, and network, proxies and chrome_policy are refused",
      await namespaceObstacles(),
    );
  },
};

const port = (number: number): Check => ({
  name: `port ${number}`,
  async find(signal) {
    const answered = Promise.withResolvers<boolean>();
    const socket = createConnection({ host: "127.0.0.1", port: number, signal });
    socket.once("connect", () => answered.resolve(true)).once("error", () => answered.resolve(false));
    const isTaken = await answered.promise;
    socket.destroy();
    return isTaken
      ? warning("taken", "npm start takes the next free port; or give one: npm start -- --port 9000")
      : ok("free");
  },
});

const gib = 2 ** 30;
const inGib = (bytes: number): string => `${(bytes / gib).toFixed(1)} GiB`;

const disk = (folder: string): Check => ({
  name: "disk",
  async find() {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    return free >= 2 * gib
      ? ok(`${inGib(free)} free`)
      : problem(`${inGib(free)} free`, "free 2 GiB: data and browsers need them");
  },
});

const memory: Check = {
  name: "memory",
  async find() {
    const text = await readFile("/proc/meminfo", "utf8").catch(() => "");
    const free = Number(/^MemAvailable:\s+(\d+)/m.exec(text)?.[1] ?? freemem() / 1024) * 1024;
    const says = `${inGib(free)} available, ${availableParallelism()} processors`;
    return free >= gib ? ok(says) : warning(says, "a warm browser takes some 200 MB, the service 600 MB");
  },
};

const fonts: Check = {
  name: "fonts",
  async find(signal) {
    const { stdout } = await run("fc-list", [":", "family"], { signal, timeout: 10_000 }).catch(() => ({ stdout: "" }));
    const families = new Set(stdout.split("\n").filter(Boolean)).size;
    return families > 0
      ? ok(`${families} families`)
      : warning("none found", "pages show boxes for text: install fonts-dejavu or others");
  },
};

/** The checks of this machine. `folder`: where local mode keeps its data; `port`: of its API. */
export const machineChecks = ({ folder, apiPort }: { folder: string; apiPort: number }): Check[] => [
  node,
  ...programs(locatePrograms()),
  namespaces,
  port(apiPort),
  disk(folder),
  memory,
  fonts,
];
