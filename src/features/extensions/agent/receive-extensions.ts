/** Takes the form with extensions that a holder sends, and checks each archive as that of a stored extension. */
import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { pairsOf, readForm } from "../../../core/agent/read-form.ts";
import { ArchiveRefused } from "../../../platform/zip/archive-refused.ts";
import { mostSessionBytes } from "../calls.ts";
import { checkExtensionZip } from "../zip/check-extension-zip.ts";

/**
 * `extensions`: of a browser, those that it was made with among them. `bytes`, `unpackedBytes`: of the archives of a
 * session together, and of their files.
 */
const mostOfAll = { extensions: 20, bytes: mostSessionBytes, unpackedBytes: 400 * 1024 * 1024 };

const namePattern = /^\w[\w.-]{0,63}$/;

/** `file`: its archive, which is checked. */
export type ReceivedExtension = { name: string; sha256: string; bytes: number; unpackedBytes: number; file: string };

/** Those of a form. What is not kept by then is removed at its disposal. */
type ReceivedForm = AsyncDisposable & {
  extensions: readonly ReceivedExtension[];
  keep(): readonly ReceivedExtension[];
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const refuse = (message: string): never => {
  throw new CallRefused("bad_request", `extensions: ${message}`);
};

const refuseName = (name: string, others: readonly ReceivedExtension[], most: number): void => {
  if (!namePattern.test(name))
    refuse("a name has up to 64 letters, digits, -, _ and ., and begins with none of - and .");
  if (others.some((each) => each.name === name))
    throw new CallRefused("conflict", `extensions: ${name} is loaded already; give another name`);
  if (others.length >= most)
    throw new CallRefused("conflict", `extensions: a browser has ${mostOfAll.extensions} at most`);
};

const tooLarge = (what: string, room: number): CallRefused =>
  new CallRefused("payload_too_large", `the ${what} of a session's extensions have ${room} bytes more at most`);

/** Writes an archive, of at most so many bytes. Returns its digest and length. */
const write = async (
  handle: FileHandle,
  chunks: AsyncIterable<Buffer>,
  { room, signal }: { room: number; signal: AbortSignal },
): Promise<{ sha256: string; bytes: number }> => {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    bytes += chunk.length;
    if (bytes > room) throw tooLarge("archives", room);
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  return { sha256: hash.digest("hex"), bytes };
};

const refusalOf = (error: unknown, name: string): unknown => {
  if (error instanceof ArchiveRefused) return new CallRefused("bad_request", `extensions: ${name}: ${error.message}`);
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT"
    ? new CallRefused("disk_full", "the disk of the browser is full; delete some files", { cause: error })
    : error;
};

/**
 * `folder`: where archives are kept, which it makes. `loaded`: those of the session so far; `present`: the number of the
 * others. Throws a `CallRefused`, and the reason of the signal; then nothing is left.
 */
export const receiveExtensions = async (
  request: IncomingMessage,
  { folder, loaded, present }: { folder: string; loaded: readonly ReceivedExtension[]; present: number },
  signal: AbortSignal,
  most = mostOfAll,
): Promise<ReceivedForm> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await using files = new AsyncDisposableStack();
  const extensions: ReceivedExtension[] = [];
  const names = pairsOf({ list: "extensions", text: "name", file: "zip_file" });

  const receive = async (name: string, chunks: AsyncIterable<Buffer>): Promise<void> => {
    const others = [...loaded, ...extensions];
    refuseName(name, others, most.extensions - present);
    const file = join(folder, randomUUID());
    files.defer(() => rm(file, { force: true }));
    await using handle = await open(file, "wx+", 0o600);
    const room = most.bytes - sum(others.map(({ bytes }) => bytes));
    const written = await write(handle, chunks, { room, signal });
    const { unpackedBytes } = await checkExtensionZip(handle, { signal });
    const unpackedRoom = most.unpackedBytes - sum(others.map((each) => each.unpackedBytes));
    if (unpackedBytes > unpackedRoom) throw tooLarge("files", unpackedRoom);
    extensions.push({ name, ...written, unpackedBytes, file });
  };
  let last: Promise<void> = Promise.resolve();
  /** One after the other: the next one comes while an archive is still being checked. */
  const take = async (field: string, chunks: AsyncIterable<Buffer>): Promise<void> => {
    const name = names.take(field);
    last = last.then(() => receive(name, chunks));
    await last.catch((error: unknown) => {
      throw refusalOf(error, name);
    });
  };
  await readForm(request, { list: "extensions", mostFiles: most.extensions, field: names.note, file: take }, signal);
  const kept = files.move();
  let isKept = false;
  return {
    extensions,
    keep() {
      isKept = true;
      return extensions;
    },
    async [Symbol.asyncDispose]() {
      if (!isKept) await kept.disposeAsync();
    },
  };
};
