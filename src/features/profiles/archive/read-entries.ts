/**
 * The entries of a tar, one after the other, from a stream of bytes that may be hostile. `tar` parses; it writes
 * nothing here.
 */
import { Parser, type ReadEntry } from "tar";
import { ProfileArchiveError } from "./limits.ts";

/** Largest header of an entry with a long path, bytes; `tar` keeps it in memory. */
const maxMetaBytes = 16 * 1024;

/** A tar consists of blocks of so many bytes. */
const blockBytes = 512;

/**
 * The same bytes, with a whole block first: from that, `tar` guesses whether they are compressed. Throws for compressed
 * ones, which it would unpack a second time, past our limits.
 */
const blockFirst = async function* (bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let first: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of bytes) {
    if (!first) {
      yield chunk;
      continue;
    }
    first = Buffer.concat([first, chunk]);
    if (first.length < blockBytes) continue;
    if (first[0] === 0x1f && first[1] === 0x8b) throw new ProfileArchiveError("the archive is compressed twice");
    yield first;
    first = undefined;
  }
  if (first) throw new ProfileArchiveError("the archive is no tar: it has less than a block");
};

type Work = { entry: ReadEntry; done: Promise<void> };

/**
 * Calls `onEntry` for each entry, which reads it to its end. Throws its error, that of `bytes`, and a
 * `ProfileArchiveError` for what is no tar, also when it is cut off. No call of `onEntry` runs any more when this
 * throws.
 */
export const readEntries = async (
  bytes: AsyncIterable<Uint8Array>,
  onEntry: (entry: ReadEntry) => Promise<void>,
): Promise<void> => {
  const parser = new Parser({ strict: true, maxMetaEntrySize: maxMetaBytes, brotli: false, zstd: false });
  const failed = Promise.withResolvers<never>();
  const ended = Promise.withResolvers<void>();
  failed.promise.catch(() => undefined);
  const fail = (error: unknown): void => failed.reject(error);
  const unfinished = new Set<Work>();
  parser.on("error", (error: Error) => fail(new ProfileArchiveError(`the archive is no tar: ${error.message}`)));
  parser.on("ignoredEntry", () => fail(new ProfileArchiveError("the archive has an entry of an unknown kind")));
  parser.on("end", () => ended.resolve());
  parser.on("entry", (entry: ReadEntry) => {
    entry.on("error", () => undefined); // its reader gets it, if there is one
    const work = { entry, done: onEntry(entry) };
    unfinished.add(work);
    work.done.catch(fail).finally(() => unfinished.delete(work));
  });
  const settled = <T>(promise: Promise<T>): Promise<T> => Promise.race([failed.promise, promise]);
  try {
    for await (const chunk of blockFirst(bytes)) {
      const drained = Promise.withResolvers<void>();
      parser.once("drain", drained.resolve);
      if (!parser.write(Buffer.from(chunk))) await settled(drained.promise);
      parser.off("drain", drained.resolve);
    }
    parser.end();
    await settled(ended.promise);
    await settled(Promise.all([...unfinished].map(({ done }) => done)));
  } catch (error) {
    for (const { entry } of unfinished) entry.destroy(new Error("the archive broke off"));
    await Promise.allSettled([...unfinished].map(({ done }) => done));
    throw error;
  }
};
