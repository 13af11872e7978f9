import type { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { type BlobStore, checkKey } from "./blob-store.ts";
import { measureBody } from "./measured-body.ts";
import type { S3BlobSettings } from "./open-blob-store.ts";
import { blobBody, orStoreError, storeError } from "./store-error.ts";

// One upload: a single request when the bytes fit into one part, else a multipart upload, which S3 shows under the key
// only when it is complete. Parts go one after the other from memory, so that the client can repeat a failed one.

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

/** Tries of each request, the first included. */
const maxAttempts = 3;

/** Limits of a request, ms: to connect; from its begin to the head of the answer; without a byte either way. */
const limits = { connectionTimeout: 3000, requestTimeout: 60_000, socketTimeout: 20_000 };

/**
 * Blobs in a bucket of S3 or of a server that speaks its protocol. Credentials come from where the AWS SDK looks for
 * them: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the identity of the pod. Does not connect.
 */
export const openS3Store = (settings: S3BlobSettings): { store: BlobStore; close(): void } => {
  const { bucket, prefix, endpoint, region, pathStyle } = settings;
  const client = new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint && { endpoint }),
    maxAttempts,
    requestHandler: { ...limits, throwOnRequestTimeout: true },
    // Only AWS itself knows the newer checksums. Each request of ours is signed with the SHA-256 of its body or sent by
    // TLS.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const placeOf = (key: string): { Bucket: string; Key: string } => {
    checkKey(key);
    return { Bucket: bucket, Key: `${prefix}${key}` };
  };
  const store: BlobStore = {
    async put(key, body, { signal }) {
      const place = placeOf(key);
      const measured = measureBody(body, signal);
      try {
        await uploadToS3(measured.read(), { client, place, signal });
      } catch (error) {
        throw measured.sourceError()?.error ?? storeError(error, signal);
      }
      return measured.result();
    },
    async get(key, { signal, range }) {
      const part = range && { Range: `bytes=${range.start}-${range.end - 1}` };
      const place = { ...placeOf(key), ...part };
      const answer = await orStoreError(
        client
          .send(new GetObjectCommand(place), { abortSignal: signal })
          .catch((error) => (error instanceof NoSuchKey ? undefined : Promise.reject(error))),
        signal,
      );
      if (!answer) return undefined;
      return { bytes: answer.ContentLength ?? 0, body: blobBody(answer.Body as Readable, signal) };
    },
    async delete(key, { signal }) {
      await orStoreError(client.send(new DeleteObjectCommand(placeOf(key)), { abortSignal: signal }), signal);
    },
    async *list(folder, { signal }) {
      checkKey(folder);
      const place = { Bucket: bucket, Prefix: `${prefix}${folder}/` };
      let next: string | undefined;
      do {
        const command = new ListObjectsV2Command({ ...place, ...(next !== undefined && { ContinuationToken: next }) });
        const page = await orStoreError(client.send(command, { abortSignal: signal }), signal);
        for (const { Key, Size = 0, LastModified } of page.Contents ?? [])
          if (Key !== undefined && LastModified)
            yield { key: Key.slice(prefix.length), bytes: Size, storedMs: LastModified.getTime() };
        next = page.NextContinuationToken;
      } while (next !== undefined);
    },
    async check({ signal }) {
      await orStoreError(client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal }), signal);
    },
  };
  return { store, close: () => client.destroy() };
};
