/**
 * Searches everything that a service leaves behind for the secrets of a test. It works with any flow: begin, run the
 * flow, end.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { KubeObject } from "../../../../src/platform/kube/objects.ts";
import type { LocalStack } from "../../../support/local-stack.ts";
import { watchRedis } from "../../../support/watch-redis.ts";
import type { Canary, Trace } from "./canary.ts";
import { tracesOf } from "./canary.ts";

/** A finding: which secret, in which form, where. */
type Find = { canary: string; form: string; place: string };

type Hunted = {
  /** The searched places, with their bytes. */
  places: Map<string, number>;
  finds: Find[];
};

export type Hunt = {
  /** Anything that a caller received: headers and body of an answer, or a message. */
  note(place: string, text: string): void;
  /** Searches everything. */
  end(): Promise<Hunted>;
};

/** Limit of a file's size, bytes; no log of a test is larger. */
const maxFile = 256 * 1024 * 1024;

const filesIn = async (folder: string, skip: (path: string) => boolean): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const nested = entries.map((entry) => {
    const path = join(folder, entry.name);
    if (skip(path)) return [];
    if (entry.isDirectory()) return filesIn(path, skip);
    return entry.isFile() ? [path] : [];
  });
  return (await Promise.all(nested)).flat();
};

/** Environment and command line of every readable process of this machine. */
const processTexts = async (): Promise<[string, Buffer][]> => {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const read = async (id: string, file: string): Promise<[string, Buffer]> => [
    `process ${file}`,
    await readFile(`/proc/${id}/${file}`).catch(() => Buffer.alloc(0)),
  ];
  return Promise.all(ids.flatMap((id) => [read(id, "environ"), read(id, "cmdline")]));
};

type Resource = { name: string; namespaced: boolean; verbs: string[] };

/**
 * Every object of every kind that can be listed, with managed fields and annotations, except Secrets and what is made
 * of them.
 */
const kubeTexts = async (kubectl: (path: string) => Promise<string>): Promise<[string, string][]> => {
  const groups = (JSON.parse(await kubectl("/apis")) as { groups: { preferredVersion: { groupVersion: string } }[] })
    .groups;
  const roots = ["/api/v1", ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const texts: [string, string][] = [];
  for (const root of roots) {
    const { resources } = JSON.parse(await kubectl(root)) as { resources: Resource[] };
    for (const { name, verbs } of resources)
      if (verbs.includes("list") && !name.includes("/") && name !== "secrets")
        texts.push([`objects: ${name}`, await kubectl(`${root}/${name}`)]);
  }
  return texts;
};

const searched = (traces: Trace[], place: string, bytes: Buffer): Find[] =>
  traces.filter((trace) => bytes.includes(trace.bytes)).map(({ canary, form }) => ({ canary, form, place }));

/** Every key of Redis with its value, of any type. */
const redisTexts = async (url: string): Promise<string> => {
  const redis = new Redis(url);
  const dumps: string[] = [];
  for await (const keys of redis.scanStream({ count: 500 }) as AsyncIterable<string[]>)
    for (const key of keys) {
      const type = await redis.type(key);
      const read: Record<string, () => Promise<unknown>> = {
        string: () => redis.get(key),
        hash: () => redis.hgetall(key),
        zset: () => redis.zrange(key, "0", "-1"),
        set: () => redis.smembers(key),
        list: () => redis.lrange(key, 0, -1),
        stream: () => redis.xrange(key, "-", "+"),
      };
      dumps.push(`${key} ${JSON.stringify(await read[type]?.())}`);
    }
  redis.disconnect();
  return dumps.join("\n");
};

type HuntOptions = {
  canaries: Canary[];
  /** GET of a path of the Kubernetes API as an administrator. */
  readKube(path: string): Promise<string>;
  /** Files that may hold the secrets: etcd's data with the Secrets, and the profile of the filled browser. */
  mayHold(path: string): boolean;
  /** Further folders to search, beside the stack's own. */
  folders: string[];
};

export const startHunt = async (stack: LocalStack, options: HuntOptions): Promise<Hunt> => {
  const traces = options.canaries.flatMap(tracesOf);
  const redis = await watchRedis(stack.redis_url);
  const noted: [string, string][] = [];
  return {
    note: (place, text) => void noted.push([place, text]),
    async end() {
      redis.stop();
      const hunted: Hunted = { places: new Map(), finds: [] };
      const search = (place: string, content: string | Buffer): void => {
        const bytes = Buffer.isBuffer(content) ? content : Buffer.from(content);
        hunted.places.set(place, (hunted.places.get(place) ?? 0) + bytes.length);
        hunted.finds.push(...searched(traces, place, bytes));
      };
      for (const [place, text] of noted) search(place, text);
      search("Redis: MONITOR", redis.lines.join("\n"));
      search("Redis: keys", await redisTexts(stack.redis_url));
      search("/metrics", await (await fetch(`${stack.url}/metrics`)).text());
      for (const [place, text] of await kubeTexts(options.readKube)) search(place, text);
      for (const [place, text] of await processTexts()) search(place, text);
      for (const folder of [stack.dataDir, ...options.folders])
        for (const path of await filesIn(folder, options.mayHold)) {
          const { size } = await stat(path).catch(() => ({ size: 0 }));
          if (size > maxFile) throw new Error(`${path} is too large to search`);
          search(`files: ${placeOf(path, stack.dataDir)}`, await readFile(path).catch(() => Buffer.alloc(0)));
        }
      return hunted;
    },
  };
};

/** The kind of a file, for readable lines in a report. */
const placeOf = (path: string, dataDir: string): string => {
  if (!path.startsWith(dataDir)) return "temporary folders";
  const [top = "", second = ""] = path.slice(dataDir.length + 1).split("/");
  return top === "logs" ? `logs of ${second.replace(/\.log$/, "")}` : top;
};

/** A place where a Secret has a value, to prove that the hunt would find one. */
export const isInSecret = (items: KubeObject[], { text }: Canary): boolean =>
  tracesOf({ name: "", text }).some(({ bytes }) => Buffer.from(JSON.stringify(items)).includes(bytes));
