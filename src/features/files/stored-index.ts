/** The indexes of what ended sessions have left (agent/api.ts), as they are in the blob store. */
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { unavailable } from "../../platform/base/errors.ts";
import { createSemaphore } from "../../platform/base/semaphore.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { mostLeft } from "./agent/api.ts";
import { LeftEntry, lineBegin } from "./agent/left-index.ts";
import { blobKeys } from "./stored-files.ts";

/** The entries of one session. `names`: a folder below the root. */
export type StoredIndex = {
  /** One of them; undefined when there is none. `names`: not those of the root. */
  entry(names: readonly string[]): LeftEntry | undefined;
  /** Those of a folder, in the order of the copy; none when there is no such folder. */
  entries(names: readonly string[]): Generator<LeftEntry>;
  /** Those below a folder, each with its names. */
  below(names: readonly string[]): Generator<{ names: string[]; entry: LeftEntry }>;
};

export type StoredIndexes = {
  /** That of this session. Throws `unavailable` when the store does not have it. */
  open(id: string, signal: AbortSignal): Promise<StoredIndex>;
};

/** Bytes of indexes in memory: those that were used last, and those that are on their way. */
const mostCachedBytes = 2 * mostLeft.indexBytes;
const mostLoads = 2;

const endOfLine = 10;

/** An agent has written them: what is no line of an index is left out. */
const jsonOf = <T>(text: string, schema: z.ZodType<T>): T[] => {
  try {
    return [schema.parse(JSON.parse(text))];
  } catch {
    return [];
  }
};

const parse = (text: string): LeftEntry[] => jsonOf(text, LeftEntry);

/** The lines that begin with this text. */
const linesOf = function* (index: Buffer, begin: string): Generator<string> {
  const sought = Buffer.from(begin);
  for (let at = index.indexOf(sought); at !== -1; at = index.indexOf(sought, at + 1)) {
    if (at > 0 && index[at - 1] !== endOfLine) continue;
    const end = index.indexOf(endOfLine, at);
    if (end === -1) return;
    yield index.toString("utf8", at, end);
    at = end - 1;
  }
};

/** The index in these bytes. */
export const readIndex = (index: Buffer): StoredIndex => ({
  entry(names) {
    const begin = lineBegin(names.slice(0, -1));
    // The name is the first field of an entry.
    for (const line of linesOf(index, `${begin}{"name":${JSON.stringify(names.at(-1))},`))
      return parse(line.slice(begin.length))[0];
    return undefined;
  },
  *entries(names) {
    const begin = lineBegin(names);
    for (const line of linesOf(index, begin)) yield* parse(line.slice(begin.length));
  },
  *below(names) {
    // Without the bracket at its end: of this folder, and of those in it.
    const begin = JSON.stringify(names).slice(0, -1);
    for (const line of linesOf(index, begin)) {
      const tab = line.indexOf("\t");
      for (const folder of jsonOf(line.slice(0, tab), z.array(z.string())))
        for (const entry of parse(line.slice(tab + 1))) yield { names: [...folder, entry.name], entry };
    }
  },
});

const load = async (id: string, blobs: BlobStore, signal: AbortSignal): Promise<Buffer> => {
  const blob = await blobs.get(blobKeys(id).index, { signal });
  if (!blob) throw unavailable("the files of this session");
  const parts: Uint8Array[] = [];
  for await (const part of blob.body) parts.push(part);
  return Buffer.concat(parts);
};

/** None in memory yet. An index never changes. */
export const createStoredIndexes = (blobs: BlobStore): StoredIndexes => {
  const loads = createSemaphore(mostLoads);
  const cached = new LRUCache<string, Buffer>({
    maxSize: mostCachedBytes,
    sizeCalculation: ({ length }) => Math.max(1, length),
  });
  return {
    async open(id, signal) {
      const known = cached.get(id);
      if (known) return readIndex(known);
      const leave = await loads.acquire(signal);
      try {
        // Another request may have loaded it meanwhile.
        const index = cached.get(id) ?? (await load(id, blobs, signal));
        cached.set(id, index);
        return readIndex(index);
      } finally {
        leave();
      }
    },
  };
};
