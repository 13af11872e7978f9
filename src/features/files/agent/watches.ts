/**
 * Watches of a session's folders. A watch tells what happens from its start on, to one reader at a time; what nobody
 * has read yet is kept, within bounds.
 *
 *   start ──► watching ──► read: what is kept, and what comes ──► the reader goes: watching again
 *                │
 *                └─ stop, too much to keep, the end of the lease ──► over: its reader gets the end
 */
import { randomUUID } from "node:crypto";
import { relative } from "node:path";
import type { FSWatcher } from "chokidar";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { pathOf } from "../session-path.ts";
import type { FileEvent } from "./api.ts";
import type { SessionFolder } from "./session-folder.ts";

/** Of one session. */
const mostWatches = 16;

/** Events that wait for their reader. */
const mostWaiting = 10_000;

/** How long a vanished path may take to come up as another one, ms. */
const renameMs = 100;

type Watch = {
  /** What is kept and what comes, until the watch is over or the signal is aborted. */
  read(signal: AbortSignal): AsyncGenerator<FileEvent>;
  stop(): Promise<void>;
};

export type Watches = {
  /** Resolves with the watch's id when it watches. Throws a `CallRefused`. */
  start(asked: { names: readonly string[]; recursive: boolean }): Promise<string>;
  /** Undefined: there is no such watch. */
  read(id: string): Watch["read"] | undefined;
  /** False: there is no such watch. */
  stop(id: string): Promise<boolean>;
  /** Ends all of them. */
  end(): void;
};

const createQueue = () => {
  const waiting: FileEvent[] = [];
  let wake: (() => void) | undefined;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    wake?.();
  };
  return {
    push(event: FileEvent): void {
      if (waiting.length >= mostWaiting) end();
      else waiting.push(event);
      wake?.();
    },
    end,
    async *read(signal: AbortSignal): AsyncGenerator<FileEvent> {
      const stop = (): void => wake?.();
      signal.addEventListener("abort", stop);
      try {
        while (!signal.aborted) {
          const next = waiting.shift();
          if (next) {
            yield next;
            continue;
          }
          if (isOver) return;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
  };
};

type Seen = { ino: number; isFolder: boolean };

/** Makes events of what the watcher sees. `tell`: gets each. */
const followWatcher = (
  watcher: FSWatcher,
  place: (path: string) => string[],
  tell: (event: FileEvent) => void,
): void => {
  const seen = new Map<string, Seen>();
  /** Paths that have vanished, by inode. */
  const gone = new Map<number, { path: string; timer: NodeJS.Timeout }>();
  let isReady = false;
  const say = (type: FileEvent["type"], path: string, isFolder: boolean): void => {
    const names = place(path);
    if (names.length === 0) return;
    tell({ type, path: pathOf(names), name: names.at(-1) ?? "", is_dir: isFolder });
  };
  const appeared = (path: string, ino: number, isFolder: boolean): void => {
    seen.set(path, { ino, isFolder });
    if (!isReady) return;
    const former = gone.get(ino);
    if (former) {
      clearTimeout(former.timer);
      gone.delete(ino);
      say("RENAME", former.path, isFolder);
    }
    say("CREATE", path, isFolder);
  };
  const vanished = (path: string): void => {
    const { ino, isFolder = false } = seen.get(path) ?? {};
    seen.delete(path);
    if (ino === undefined) {
      say("DELETE", path, isFolder);
      return;
    }
    const timer = setTimeout(() => {
      gone.delete(ino);
      say("DELETE", path, isFolder);
    }, renameMs);
    gone.set(ino, { path, timer });
  };
  watcher.on("ready", () => {
    isReady = true;
  });
  watcher.on("add", (path, stats) => appeared(path, stats?.ino ?? 0, false));
  watcher.on("addDir", (path, stats) => appeared(path, stats?.ino ?? 0, true));
  watcher.on("change", (path, stats) => {
    if (stats) seen.set(path, { ino: stats.ino, isFolder: false });
    say("WRITE", path, false);
  });
  watcher.on("unlink", vanished);
  watcher.on("unlinkDir", vanished);
};

const startOne = async (
  root: string,
  folder: SessionFolder,
  { names, recursive }: { names: readonly string[]; recursive: boolean },
): Promise<Watch> => {
  const queue = createQueue();
  const watched = [root, ...names].join("/");
  const place = (path: string): string[] =>
    relative(root, path)
      .split("/")
      .filter((name) => name !== "");
  // Loaded by the few agents whose holders watch something.
  const { watch } = await import("chokidar");
  const watcher = watch(watched, {
    ...{ ignoreInitial: false, alwaysStat: true, followSymlinks: false, ignorePermissionErrors: true, atomic: false },
    ...(!recursive && { depth: 0 }),
    ignored: (path) => folder.isHidden(place(path)),
  });
  followWatcher(watcher, place, queue.push);
  await new Promise<void>((resolve, reject) => {
    watcher.once("ready", resolve);
    watcher.once("error", reject);
  });
  watcher.on("error", queue.end);
  return {
    read: queue.read,
    async stop() {
      queue.end();
      await watcher.close();
    },
  };
};

/** `root`: of the folder on this machine. */
export const createWatches = (root: string, folder: SessionFolder): Watches => {
  const open = new Map<string, Watch>();
  return {
    async start(asked) {
      if (open.size >= mostWatches)
        throw new CallRefused("too_many_requests", `the session has ${mostWatches} watches; stop one`);
      // Refuses what is no folder.
      await (await folder.open(asked.names))[Symbol.asyncDispose]();
      const id = randomUUID();
      open.set(id, await startOne(root, folder, asked));
      return id;
    },
    read: (id) => open.get(id)?.read,
    async stop(id) {
      const found = open.get(id);
      open.delete(id);
      await found?.stop();
      return found !== undefined;
    },
    end() {
      for (const one of open.values()) void one.stop();
      open.clear();
    },
  };
};
