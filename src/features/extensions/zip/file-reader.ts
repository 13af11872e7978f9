import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { RandomAccessReader } from "yauzl";

/** Bytes that are read at once. */
const chunkBytes = 64 * 1024;

/** The bytes of a file from `start` up to `end`. */
export async function* chunksOf(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer, void, undefined> {
  let position = start;
  while (position < end) {
    const length = Math.min(chunkBytes, end - position);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/**
 * Lets yauzl read a file that its caller keeps and closes. yauzl's own way closes the descriptor while a read of it may still be
 * under way.
 */
export class FileReader extends RandomAccessReader {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    super();
    this.#file = file;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(chunksOf(this.#file, start, end), { objectMode: false });
  }

  /** Also answers how many bytes it read, which yauzl needs and its types leave out. */
  // biome-ignore lint/complexity/useMaxParams: yauzl calls it so
  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.#file.read(buffer, offset, length, position).then(
      ({ bytesRead }) => callback(null, bytesRead),
      (error: Error) => callback(error),
    );
  }
}
