/**
 * One upload: a single request when the bytes fit into one part, else a multipart upload, which S3 shows under the key only when it
 * is complete. Parts go one after the other from memory, so that the client can repeat a failed one.
 */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";

/** S3 takes no part below 5 MiB but the last one. An upload holds two parts in memory. */
const partBytes = 8 * 1024 * 1024;

/** Time to tell S3 that the parts of a failed upload may go, ms. */
const abortMs = 5000;

type UploadTarget = { client: S3Client; place: { Bucket: string; Key: string }; signal: AbortSignal };

type Part = { bytes: Buffer; isLast: boolean };

/** At least one part, which may be empty. */
async function* inParts(body: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size <= partBytes) continue;
    const all = Buffer.concat(chunks);
    const whole = Math.floor((size - 1) / partBytes); // leaves something for the last part
    for (let place = 0; place < whole; place++)
      yield { bytes: all.subarray(place * partBytes, (place + 1) * partBytes), isLast: false };
    chunks = [all.subarray(whole * partBytes)];
    size -= whole * partBytes;
  }
  yield { bytes: Buffer.concat(chunks), isLast: true };
}

const uploadParts = async (first: Part, rest: AsyncGenerator<Part>, target: UploadTarget): Promise<void> => {
  const { client, place, signal } = target;
  const call = { abortSignal: signal };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(place), call);
  const upload = { ...place, UploadId };
  const send = async ({ bytes }: Part, PartNumber: number) => {
    const { ETag } = await client.send(new UploadPartCommand({ ...upload, PartNumber, Body: bytes }), call);
    return { ETag, PartNumber };
  };
  try {
    const Parts = [await send(first, 1)];
    for await (const part of rest) Parts.push(await send(part, Parts.length + 1));
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }), call);
  } catch (error) {
    // When S3 does not answer this, the bucket's lifecycle rule removes the parts (docs/blobs.md).
    await client
      .send(new AbortMultipartUploadCommand(upload), { abortSignal: AbortSignal.timeout(abortMs) })
      .catch(() => undefined);
    throw error;
  }
};

/** Uploads all bytes of `body`, whole or not at all. Throws what the client or `body` throws. */
export const uploadToS3 = async (body: AsyncIterable<Uint8Array>, target: UploadTarget): Promise<void> => {
  const { client, place, signal } = target;
  const parts = inParts(body);
  try {
    const { value: first } = await parts.next();
    if (first.isLast) await client.send(new PutObjectCommand({ ...place, Body: first.bytes }), { abortSignal: signal });
    else await uploadParts(first, parts, target);
  } finally {
    await parts.return(undefined);
  }
};
