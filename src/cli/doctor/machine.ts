/** What `browserpool doctor` looks at on a machine that runs local mode, or shall run it. */
import { execFile } from "node:child_process";
import { readFile, stat, statfs } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../local/free-port.ts";
import { mayGetNamespaces } from "../../local/local-features.ts";
import { locatePrograms, type Programs } from "../../local/locate-programs.mjs";
import { portHolder } from "../../local/port-holder.ts";
import { call, readConnection } from "../service.ts";
import { type Check, type Found, ok, problem, skipped, warning } from "./finding.ts";

const run = promisify(execFile);

/** Longest time of a program that says its version, ms. */
const versionMs = 10_000;

const node: Check = { name: "Node", find: async () => ok(`${process.versions.node} (${process.execPath})`) };

type Program = { path: string | undefined; args?: string[]; without: Found; judge?: (version: string) => Found };

/** A program that is asked for its version. `without`: what is found where there is none. */
const program = (name: string, { path, args = ["--version"], without, judge = ok }: Program): Check => ({
  name,
  async find(signal) {
    if (!path) return without;
    const { stdout, stderr } = await run(path, args, { signal, timeout: versionMs }).catch((error: Error) => {
      throw new Error(`${path} does not run: ${error.message.trim().split("\n").at(-1)}`);
    });
    const version = /\d+(\.\d+)+/.exec(stdout || stderr)?.[0];
    if (!version) throw new Error(`${path} does not say its version`);
    const found = judge(version);
    return { ...found, says: `${found.says} (${path})` };
  },
});

/** Chromium gets fixes for holes that are in use every few weeks; it is tested with 156. */
const oldestChromium = 140;

const judgeChromium = (version: string): Found =>
  Number.parseInt(version, 10) >= oldestChromium
    ? ok(version)
    : warning(`${version} lacks fixes for known holes`, "update it, or set BROWSERPOOL_CHROMIUM to a newer one");

const install = "npm start installs it as root on Debian, and says the command elsewhere";

const programs = (found: Programs): Check[] => {
  const chromium = { args: ["--version"], judge: judgeChromium };
  return [
    program("Redis", {
      path: found["redis-server"],
      without: problem("not found", `${install}; or set BROWSERPOOL_REDIS_SERVER`),
    }),
    program("etcd", { path: found.etcd, without: problem("not found", "npm start gets it") }),
    program("kube-apiserver", { path: found["kube-apiserver"], without: problem("not found", "npm start gets it") }),
    program("kubectl", {
      path: found.kubectl,
      args: ["version", "--client"],
      without: warning("not found; only people use it", "npm run setup -- --kubectl"),
    }),
    program("Chromium", {
      ...chromium,
      path: found.chromium,
      without: warning("not found: no headful pools", `${install}; or set BROWSERPOOL_CHROMIUM`),
    }),
    program("headless Chromium", {
      ...chromium,
      path: found["chromium-headless-shell"],
      without: problem("not found", `${install}; or set BROWSERPOOL_CHROMIUM_HEADLESS`),
    }),
    program("ffmpeg", {
      path: found.ffmpeg,
      args: ["-version"],
      without: warning("not found: no recordings", install),
    }),
    program("chromedriver", {
      path: found.chromedriver,
      without: warning("not found: no WebDriver over HTTP", `${install}; or set BROWSERPOOL_CHROMEDRIVER`),
    }),
  ];
};

const numberIn = async (path: string): Promise<number | undefined> => {
  const text = await readFile(path, "utf8").catch(() => undefined);
  return text === undefined ? undefined : Number(text);
};

/** Why a machine gives its users no namespaces, and what changes that. */
const namespaceObstacle = async ({ bwrap, ip, socat }: Programs): Promise<string> => {
  const missing = Object.entries({ bwrap, ip, socat }).filter(([, path]) => !path);
  if (missing.length > 0) return `${missing.map(([name]) => name).join(", ")} not found: ${install}`;
  if ((await numberIn("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")) === 1)
    return "AppArmor forbids them (Ubuntu from 23.10); until the next boot:\nsudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  if ((await numberIn("/proc/sys/kernel/unprivileged_userns_clone")) === 0)
    return "the kernel forbids them; until the next boot:\nsudo sysctl -w kernel.unprivileged_userns_clone=1";
  if ((await numberIn("/proc/sys/user/max_user_namespaces")) === 0)
    return "the kernel allows none; until the next boot:\nsudo sysctl -w user.max_user_namespaces=15000";
  return "in a container, its seccomp profile may forbid them: docs/install-local.md has what docker run needs";
};

const namespaces = (found: Programs): Check => ({
  name: "namespaces",
  find: async () =>
    (await mayGetNamespaces())
      ? ok("each browser gets its own files, processes and network")
      : warning(
          "browsers share this user's files and ports; network, proxies and chrome_policy are refused",
          await namespaceObstacle(found),
        ),
});

const seccomp: Check = {
  name: "seccomp",
  find: async () =>
    (await readFile("/proc/sys/kernel/seccomp/actions_avail", "utf8").catch(() => ""))
      ? ok("Chromium can filter its system calls")
      : problem("the kernel has no seccomp filters", "Chromium's sandbox needs CONFIG_SECCOMP_FILTER"),
};

const port = (number: number, isOurs: boolean): Check => ({
  name: `port ${number}`,
  async find() {
    if ((await freePort("127.0.0.1", number)) !== undefined) return ok("free");
    if (isOurs) return ok("taken by the local mode that runs");
    const holder = (await portHolder(number)) ?? "another program";
    return warning(`taken by ${holder}`, "npm start takes the next free port; or name one: npm start -- --port 9000");
  },
});

const gib = 2 ** 30;
const inGib = (bytes: number): string => `${(bytes / gib).toFixed(1)} GiB`;

/** A folder that is there: this one, or the nearest one above it. */
const existing = async (folder: string): Promise<string> =>
  stat(folder).then(
    () => folder,
    () => (folder === dirname(folder) ? folder : existing(dirname(folder))),
  );

const disk = (folder: string): Check => ({
  name: "disk",
  async find() {
    const place = await existing(folder);
    const { bavail, bsize } = await statfs(place);
    const says = `${inGib(bavail * bsize)} free for ${folder}`;
    return bavail * bsize >= 2 * gib ? ok(says) : problem(says, "free 2 GiB, or choose another folder by --data-dir");
  },
});

const memory: Check = {
  name: "memory",
  async find() {
    // Also what a container may have.
    const free = process.availableMemory();
    const says = `${inGib(free)} available, ${availableParallelism()} processors`;
    return free >= gib ? ok(says) : warning(says, "the service takes 600 MB, and each warm browser some 200 MB");
  },
};

/** No newer than anything that was written here: certificates and keys would not be valid yet. */
const clock = (product: string): Check => ({
  name: "clock",
  async find() {
    const { mtime } = await stat(join(product, "package.json"));
    const says = new Date().toISOString();
    return mtime.getTime() <= Date.now() ? ok(says) : problem(`${says}: files here are newer`, "set the clock");
  },
});

const fonts: Check = {
  name: "fonts",
  async find(signal) {
    const listed = await run("fc-list", [":", "family"], { signal, timeout: versionMs }).catch(() => undefined);
    if (!listed) return skipped("fc-list is not there to tell");
    const families = new Set(listed.stdout.split("\n").filter(Boolean)).size;
    return families > 0
      ? ok(`${families} families`)
      : warning("none: pages show boxes for text", "install fonts-dejavu");
  },
};

/** The service that runs on this data directory, seen by a caller. */
const service = (url: string, key: string): Check => ({
  name: "service",
  async find(signal) {
    await call({ url, key }, "/browser_pools?limit=1", { signal });
    return ok(`answers at ${url}, with Redis and kube-apiserver behind it`);
  },
});

/** The checks of this machine. `product`: the folder of the sources. */
export const machineChecks = async ({
  dataDir,
  apiPort,
  product,
}: {
  dataDir: string;
  apiPort: number;
  product: string;
}): Promise<Check[]> => {
  const found = locatePrograms();
  const running = await readConnection(dataDir);
  const isOurs = running !== undefined && new URL(running.url).port === String(apiPort);
  return [
    node,
    ...programs(found),
    namespaces(found),
    seccomp,
    port(apiPort, isOurs),
    disk(dataDir),
    memory,
    clock(product),
    fonts,
    ...(running ? [service(running.url, running.api_key)] : []),
  ];
};
