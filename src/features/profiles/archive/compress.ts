import type { Readable, Writable } from "node:stream";
import { constants, createZstdCompress } from "node:zlib";

/**
 * Told of the end while its last chunk waits, zstd makes other bytes of the same input than told after it. So it is always told after it.
 */
const feed = async (source: Readable, packed: Writable): Promise<void> => {
  for await (const chunk of source)
    await new Promise<void>((resolve, reject) => {
      packed.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  packed.end();
};

/**
 * The bytes of `source` as zstd: the same for the same bytes, however they come. Fails as `source` does. Its checksum finds damage that a
 * digest of the whole would only find at the end.
 */
export const compress = (source: Readable): Readable => {
  const packed = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  feed(source, packed).catch((error: Error) => packed.destroy(error));
  return packed;
};
