/**
 * The folder of a session's files, and the only ways into it. Downloads of pages and the holder's own programs write
 * there too, so nothing stays true between two looks: each step opens the next folder by the open one before it
 * (`/proc/self/fd/N/name`) and follows no link. What a path leads to is so below the root, whatever changes meanwhile.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, opendir } from "node:fs/promises";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { BadPath, namesIn, pathOf } from "../session-path.ts";
import { refuseBy } from "./refuse.ts";

/** A handle that can be used for nothing but as a place (Linux' O_PATH, which Node has no name for). */
const placeOnly = 0o10000000;

const { O_DIRECTORY, O_NOFOLLOW } = constants;

/** Where an entry is: an open folder, and its name there. `at`: a path for system calls, while the folder is open. */
type Place = AsyncDisposable & { names: readonly string[]; name: string; at: string; path: string };

/** An open folder. `at`: a path for system calls. `entries`: the names in it, but for those that are none of the session. */
export type OpenFolder = AsyncDisposable & {
  names: readonly string[];
  at: string;
  path: string;
  entries(): AsyncGenerator<string>;
};

const atHandle = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

const step = async (at: string, names: readonly string[], make: boolean): Promise<FileHandle> => {
  try {
    return await open(at, placeOnly | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (!make || (error as NodeJS.ErrnoException).code !== "ENOENT") throw refuseBy(error, pathOf(names));
  }
  // Somebody else may have made it meanwhile.
  await mkdir(at, 0o755).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw refuseBy(error, pathOf(names));
  });
  return step(at, names, false);
};

export type SessionFolder = {
  /** Whether a path, by its names, is none of the session's, although it is there. */
  isHidden(names: readonly string[]): boolean;
  /** The names of a caller's path. `field`: for the message. Throws a `CallRefused`. */
  namesOf(path: string, field: string): string[];
  /** Opens a folder. `make`: with those on the way, if they are missing. Throws a `CallRefused`. */
  open(names: readonly string[], options?: { make?: boolean }): Promise<OpenFolder>;
  /** The place of an entry that is not the root; it need not exist. `make`: the folders on the way, if they are missing. */
  place(names: readonly string[], options?: { make?: boolean }): Promise<Place>;
};

/** `root`: the folder on this machine; it exists. `isAgents`: tells which entries of it are none of the session. */
export const createSessionFolder = (root: string, isAgents: (name: string) => boolean): SessionFolder => {
  const isHidden: SessionFolder["isHidden"] = ([first]) => first !== undefined && isAgents(first);
  const openFolder: SessionFolder["open"] = async (names, { make = false } = {}) => {
    let handle = await open(root, placeOnly | O_DIRECTORY);
    for (let depth = 1; depth <= names.length; depth += 1) {
      const parent = handle;
      try {
        handle = await step(`${atHandle(parent)}/${names[depth - 1]}`, names.slice(0, depth), make);
      } finally {
        await parent.close();
      }
    }
    return {
      names,
      at: atHandle(handle),
      path: pathOf(names),
      async *entries() {
        for await (const { name } of await opendir(atHandle(handle))) if (!isHidden([...names, name])) yield name;
      },
      [Symbol.asyncDispose]: () => handle.close(),
    };
  };
  return {
    isHidden,
    namesOf(path, field) {
      try {
        const names = namesIn(path);
        if (isHidden(names)) throw new CallRefused("missing", `there is no ${path}`);
        return names;
      } catch (error) {
        if (error instanceof BadPath) throw new CallRefused("bad_request", `${field}: ${error.message}`);
        throw error;
      }
    },
    open: openFolder,
    async place(names, options) {
      const name = names.at(-1);
      if (name === undefined) throw new CallRefused("bad_request", `${pathOf([])} is the folder of the session itself`);
      const folder = await openFolder(names.slice(0, -1), options);
      return {
        names,
        name,
        at: `${folder.at}/${name}`,
        path: pathOf(names),
        [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
      };
    },
  };
};

/** Opens a plain file for reading. Throws a `CallRefused` for anything else. */
export const openFile = async ({ at, path }: Pick<Place, "at" | "path">): Promise<FileHandle> => {
  // Of a pipe, an open would wait for a writer.
  const handle = await open(at, constants.O_RDONLY | O_NOFOLLOW | constants.O_NONBLOCK).catch((error: unknown) => {
    throw refuseBy(error, path);
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new CallRefused("bad_request", `${path} is no plain file`);
};

/** A handle of an entry itself, also of a link; it can be used for nothing but as a place. */
export const openItself = (at: string): Promise<FileHandle> => open(at, placeOnly | O_NOFOLLOW);

/** What is at a place. Throws a `CallRefused` when nothing is. */
export const look = async ({ at, path }: Pick<Place, "at" | "path">) => {
  try {
    return await lstat(at);
  } catch (error) {
    throw refuseBy(error, path);
  }
};
