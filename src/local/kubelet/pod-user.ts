/**
 * Users of pods (NETWORK-15 of docs/rules.md). Where root runs local mode, each pod runs as a user of its own: its
 * number is the pod's address, which no other pod of the machine has. So Chromium keeps its sandbox, no pod reads the
 * files of another one or of root, and nothing in it can get more rights.
 *
 *   root ──► unshare: mounts of its own ──► sh: what the pod needs of folders that its user can't pass
 *        ──► setpriv: the user, no new privileges ──► the agent
 */
import { existsSync } from "node:fs";
import { chown, constants, readdir, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { mayGetNamespaces } from "../local-features.ts";
import { quoted } from "../quoted.ts";

type Command = readonly [program: string, ...args: string[]];

/** A folder that a pod sees where it is. */
type Shown = { path: string; mayWrite?: true };

/** What a pod has: its address, and its folders, which become its user's. */
type PodPlaces = { podIp: string; podDir: string; tempDir: string; parentDeathSignal: string };

/** How pods get their users. */
export type PodUsers = {
  /** The command that runs `command` as the pod's user, and further variables for it. Gives the user its folders. */
  commandFor(places: PodPlaces, command: Command): Promise<{ command: Command; env: Record<string, string> }>;
};

/** 127.1.2.3 → 0x7f010203: above the numbers that systems give to people, services and containers. */
const userOf = (podIp: string): number => podIp.split(".").reduce((number, part) => number * 256 + Number(part), 0);

/** The user of no pod, for trials. */
const nobody = userOf("127.0.0.1");

/** Folders that every system has. One in which a pod needs nothing becomes, in its view, a place for mounts. */
const possibleStages = ["/mnt", "/media", "/srv"];

const emptyFolder = (path: string): string => `mount -t tmpfs -o size=1m,mode=711 browserpool ${quoted(path)}`;

/** The folders on the way to `path` that others than their owner can't pass. */
const closedOnTheWay = async (path: string): Promise<string[]> => {
  const parents: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) parents.push(folder);
  const modes = await Promise.all(parents.map((folder) => stat(folder).then(({ mode }) => mode)));
  return parents.filter((_, at) => ((modes[at] ?? 0) & constants.S_IXOTH) === 0);
};

type View = {
  shown: readonly Shown[];
  /** Where the pod finds `compiled`, which is shown under another path. */
  stage: string;
  /** A folder, and the name that it has in `stage`. */
  compiled?: { source: string; name: string } | undefined;
};

const stageFor = (shown: readonly Shown[]): string => {
  const found = possibleStages.find((one) => existsSync(one) && !shown.some(({ path }) => path.startsWith(`${one}/`)));
  if (!found) throw new Error(`${possibleStages.join(", ")} are missing or in use`);
  return found;
};

/**
 * The script that shows these folders, whatever is on the way to them: a folder that others can't pass becomes an empty
 * one, with only the way to what is shown. Sources are fetched first, before anything is covered.
 */
const scriptOf = async ({ shown, stage, compiled }: View): Promise<string> => {
  const ways = await Promise.all(shown.map(async (one) => ({ ...one, closed: await closedOnTheWay(one.path) })));
  const placed = ways.filter(({ closed }) => closed.length > 0);
  const fetch = (source: string, name: string, mayWrite = false): string[] => [
    `mkdir ${stage}/${name}`,
    `mount --rbind ${quoted(source)} ${stage}/${name}`,
    ...(mayWrite ? [] : [`mount -o remount,bind,ro ${stage}/${name}`]),
  ];
  const steps = [
    ...[...new Set(placed.flatMap(({ closed }) => closed))].map((path) => ({ path, step: emptyFolder(path) })),
    ...placed.map(({ path }, at) => ({ path, step: `mount --move ${stage}/${at} ${quoted(path)}` })),
  ];
  return [
    "set -e",
    emptyFolder(stage),
    ...placed.flatMap(({ path, mayWrite }, at) => fetch(path, String(at), mayWrite)),
    ...(compiled ? fetch(compiled.source, compiled.name) : []),
    // A folder before what is in it.
    ...steps
      .sort((a, b) => a.path.length - b.path.length)
      .flatMap(({ path, step }) => [`mkdir -p ${quoted(path)}`, step]),
    'exec "$@"',
  ].join("\n");
};

/** Tells its parent's end anew: a change of the user makes the kernel forget it. */
const asUser = (user: number, script: string, parentDeathSignal: string, command: Command): Command => [
  ...(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"] as const),
  ...["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--inh-caps=-all", "--no-new-privs"],
  ...[`--pdeathsig=${parentDeathSignal}`, "--", ...command],
];

/** The folders of these programs, also of those that links lead to. */
const foldersOf = async (programs: readonly (string | undefined)[]): Promise<string[]> => {
  const paths = programs.filter((path) => path !== undefined && isAbsolute(path)) as string[];
  return (await Promise.all(paths.map(async (path) => [dirname(path), dirname(await realpath(path))]))).flat();
};

/** Compiled code that root's Node has written: its folder has the name of a version and of the user. */
const compiledIn = async (folder: string): Promise<{ folder: string; version: string } | undefined> => {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((one) => one.startsWith(`${process.version}-`) && one.endsWith("-0"));
  return name === undefined ? undefined : { folder: join(folder, name), version: name.slice(0, -"-0".length) };
};

type Options = {
  /** Node, its options, and main.ts. */
  agentCommand: Command;
  /** What agents run. */
  programs: readonly (string | undefined)[];
  /** The folder in which root's Node has compiled code for agents, who may only read it. */
  compileCache: string;
};

/**
 * Users for the pods of root. Undefined when this is not root, or root may not make mounts or change users here, or
 * such a user may make no namespaces, without which Chromium has no sandbox.
 */
export const createPodUsers = async (options: Options): Promise<PodUsers | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const { agentCommand, programs, compileCache } = options;
  const product = dirname(dirname(agentCommand.at(-1) ?? ""));
  const needed = await foldersOf([agentCommand[0], ...programs]);
  const folders = [product, await realpath(join(product, "node_modules")), ...needed];
  const inProduct = (path: string): boolean => path.startsWith(`${product}/`);
  const shared: Shown[] = [...new Set(folders)].filter((path) => !inProduct(path)).map((path) => ({ path }));
  const trial = await scriptOf({ shown: shared, stage: stageFor(shared) });
  if (!(await mayGetNamespaces((command) => asUser(nobody, trial, "KILL", command)))) return undefined;
  return {
    async commandFor({ podIp, podDir, tempDir, parentDeathSignal }, command) {
      const user = userOf(podIp);
      for (const folder of [podDir, tempDir]) await chown(folder, user, user);
      const shown: Shown[] = [...shared, { path: podDir, mayWrite: true }, { path: tempDir, mayWrite: true }];
      const stage = stageFor(shown);
      const found = await compiledIn(compileCache);
      const compiled = found && { source: found.folder, name: `${found.version}-${user}` };
      const script = await scriptOf({ shown, stage, compiled });
      return { command: asUser(user, script, parentDeathSignal, command), env: { NODE_COMPILE_CACHE: stage } };
    },
  };
};
