/**
 * Copies what a session leaves in its folder into two files without a name (core/agent/unnamed-file.ts): an index, and
 * the bytes of all plain files one after the other. Each file is deleted once it is copied, so that the disk has no
 * more than one of them twice. Others may still write to the folder: each step goes by an open folder and follows no link.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats, unlinkSync } from "node:fs";
import { type FileHandle, unlink } from "node:fs/promises";
import { openUnnamedFile, type UnnamedFile } from "../../../core/agent/unnamed-file.ts";
import { mostLeft } from "./api.ts";
import { infoOf } from "./file-info.ts";
import { type LeftEntry, lineBegin } from "./left-index.ts";
import { type OpenFolder, openFile, type SessionFolder } from "./session-folder.ts";

/** What a session has left. The caller closes both files. */
export type Left = { index: UnnamedFile; content: UnnamedFile; indexBytes: number; contentBytes: number };

/** Nothing is kept of a session. `why`: for people who look for its files. */
export class LeftLost extends Error {
  override name = "LeftLost";
  readonly why: "too_large" | "no_room" | "too_slow" | "unreadable";
  constructor(why: LeftLost["why"], options?: ErrorOptions) {
    super(`the files of a session are not kept: ${why}`, options);
    this.why = why;
  }
}

/** Bytes that are read and written at once; a file of fewer is read together with others. */
const chunkBytes = 256 * 1024;
const smallBytes = 64 * 1024;

/** Entries that are looked at and read at once. */
const atOnce = 32;

/** Bytes on their way into a file, in larger writes than they come. */
const createWriter = (file: UnnamedFile) => {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (waitingBytes === 0) return;
    const all = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    await file.append(all);
  };
  return {
    bytes: () => bytes,
    flush,
    async write(chunk: Buffer): Promise<void> {
      bytes += chunk.length;
      waitingBytes += chunk.length;
      waiting.push(chunk);
      if (waitingBytes >= chunkBytes) await flush();
    },
  };
};

type Copying = {
  index: ReturnType<typeof createWriter>;
  content: ReturnType<typeof createWriter>;
  /** Told of all bytes before they are written; throws `LeftLost` when there is no room for them. */
  spend(bytes: number): void;
  /** Told of all entries before they are looked at; throws `LeftLost` when there are too many. */
  enter(entries: number): void;
  signal: AbortSignal;
};

const createEntryCount = (): Copying["enter"] => {
  let count = 0;
  return (entries) => {
    count += entries;
    if (count > mostLeft.entries) throw new LeftLost("too_large");
  };
};

const chunksOf = async function* (file: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (let offset = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, offset);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    offset += bytesRead;
  }
};

/** An entry that was looked at. `small`: the bytes of a small file. */
type Seen = { name: string; entry: LeftEntry; isFile: boolean; small?: Buffer | undefined };

const orNothing = <T>(call: () => T): T | undefined => {
  try {
    return call();
  } catch {
    return undefined;
  }
};

/** Reads a small file and deletes it; undefined when it can't be opened. */
const takeSmall = (at: string, size: number): Buffer | undefined => {
  const fd = orNothing(() => openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
  if (fd === undefined) return undefined;
  try {
    if (!fstatSync(fd).isFile()) return undefined;
    const buffer = Buffer.allocUnsafe(size);
    const bytes = readSync(fd, buffer, 0, size, 0);
    orNothing(() => unlinkSync(at));
    return buffer.subarray(0, bytes);
  } finally {
    closeSync(fd);
  }
};

/** Undefined for what is gone meanwhile. */
const see = ({ at, names }: OpenFolder, name: string): Seen | undefined => {
  const stats: Stats | undefined = orNothing(() => lstatSync(`${at}/${name}`));
  if (!stats) return undefined;
  const { path: _, ...entry } = infoOf([...names, name], stats);
  const isFile = stats.isFile();
  const isSmall = isFile && stats.size <= smallBytes;
  return { name, entry, isFile, small: isSmall ? takeSmall(`${at}/${name}`, stats.size) : undefined };
};

/** Returns how many bytes there were, and deletes the file; undefined when it can't be opened. */
const copyLarge = async (at: string, { content, spend, signal }: Copying): Promise<number | undefined> => {
  const file = await openFile({ at, path: "" }).catch(() => undefined);
  if (!file) return undefined;
  await using _ = file;
  const before = content.bytes();
  for await (const chunk of chunksOf(file, signal)) {
    spend(chunk.length);
    await content.write(chunk);
  }
  await unlink(at).catch(() => undefined);
  return content.bytes() - before;
};

const keep = async (folder: OpenFolder, { name, entry, isFile, small }: Seen, copying: Copying): Promise<void> => {
  const { index, content, spend } = copying;
  const at = content.bytes();
  let bytes = small?.length;
  // A file with holes may be larger than the disk.
  if (entry.size_bytes > mostLeft.bytes) throw new LeftLost("too_large");
  if (small) {
    spend(small.length);
    await content.write(small);
  } else if (isFile) bytes = await copyLarge(`${folder.at}/${name}`, copying);
  const kept = bytes === undefined ? entry : { ...entry, size_bytes: bytes, at };
  const line = Buffer.from(`${lineBegin(folder.names)}${JSON.stringify(kept)}\n`);
  spend(line.length);
  await index.write(line);
  if (index.bytes() > mostLeft.indexBytes) throw new LeftLost("too_large");
};

/** Up to so many names at a time. A folder that can't be read has none. */
const namesIn = async function* (folder: OpenFolder): AsyncGenerator<string[]> {
  let names: string[] = [];
  try {
    for await (const name of folder.entries()) {
      names.push(name);
      if (names.length < atOnce) continue;
      yield names;
      names = [];
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
  }
  yield names;
};

/** Copies the entries of one open folder; returns the folders in it, and how many plain files there were. */
const copyFolder = async (open: OpenFolder, copying: Copying): Promise<{ folders: string[]; files: number }> => {
  const folders: string[] = [];
  let files = 0;
  for await (const some of namesIn(open)) {
    copying.signal.throwIfAborted();
    copying.enter(some.length);
    for (const seen of some.flatMap((name) => see(open, name) ?? [])) {
      if (seen.entry.is_dir) folders.push(seen.name);
      if (seen.isFile) files += 1;
      await keep(open, seen, copying);
    }
  }
  return { folders, files };
};

/** Returns how many plain files there were. */
const copyAll = async (folder: SessionFolder, copying: Copying): Promise<number> => {
  const waiting: string[][] = [[]];
  let files = 0;
  for (let names = waiting.pop(); names; names = waiting.pop()) {
    const open = await folder.open(names).catch(() => undefined);
    if (!open) continue;
    await using _ = open;
    const copied = await copyFolder(open, copying);
    files += copied.files;
    for (const name of copied.folders) waiting.push([...names, name]);
  }
  return files;
};

const lostBy = (error: unknown, signal: AbortSignal): LeftLost => {
  if (error instanceof LeftLost) return error;
  if (signal.aborted) return new LeftLost("too_slow", { cause: error });
  const { code } = error as NodeJS.ErrnoException;
  return new LeftLost(code === "ENOSPC" || code === "EDQUOT" ? "no_room" : "unreadable", { cause: error });
};

/**
 * Copies the folder; undefined when there is no plain file in it. `spend`: told of all bytes before they are written,
 * and may throw `LeftLost`. Rejects with `LeftLost`.
 */
export const copyLeft = async (
  folder: SessionFolder,
  dataDir: string,
  { spend, signal }: Pick<Copying, "spend" | "signal">,
): Promise<Left | undefined> => {
  const opened: UnnamedFile[] = [];
  const open = async (): Promise<UnnamedFile> => {
    const file = await openUnnamedFile(dataDir);
    opened.push(file);
    return file;
  };
  const close = (): Promise<unknown> => Promise.all(opened.map((file) => file.close()));
  try {
    const files = { index: await open(), content: await open() };
    const [index, content] = [createWriter(files.index), createWriter(files.content)];
    const count = await copyAll(folder, { index, content, spend, signal, enter: createEntryCount() });
    await Promise.all([index.flush(), content.flush()]);
    if (count > 0) return { ...files, indexBytes: index.bytes(), contentBytes: content.bytes() };
  } catch (error) {
    await close();
    throw lostBy(error, signal);
  }
  await close();
  return undefined;
};
