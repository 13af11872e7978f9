import type { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  NoSuchKey,
  S3Client,
} from "@aws-sdk/client-s3";
import type { S3BlobSettings } from "./blob-settings.ts";
import { type BlobStore, checkKey } from "./blob-store.ts";
import { measureBody } from "./measured-body.ts";
import { uploadToS3 } from "./s3-upload.ts";
import { blobBody, orStoreError, storeError } from "./store-error.ts";

/** Tries of each request, the first included. */
const maxAttempts = 3;

/** Limits of a request, ms: to connect; from its begin to the head of the answer; without a byte either way. */
const limits = { connectionTimeout: 3000, requestTimeout: 60_000, socketTimeout: 20_000 };

/**
 * Blobs in a bucket of S3 or of a server that speaks its protocol. Credentials come from where the AWS SDK looks for them:
 * AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the identity of the pod. Does not connect.
 */
export const openS3Store = (settings: S3BlobSettings): { store: BlobStore; close(): void } => {
  const { bucket, prefix, endpoint, region, pathStyle } = settings;
  const client = new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint && { endpoint }),
    maxAttempts,
    requestHandler: { ...limits, throwOnRequestTimeout: true },
    // Only AWS itself knows the newer checksums. Each request of ours is signed with the SHA-256 of its body or sent by TLS.
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
        for (const { Key, LastModified } of page.Contents ?? [])
          if (Key !== undefined && LastModified)
            yield { key: Key.slice(prefix.length), storedMs: LastModified.getTime() };
        next = page.NextContinuationToken;
      } while (next !== undefined);
    },
    async check({ signal }) {
      await orStoreError(client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal }), signal);
    },
  };
  return { store, close: () => client.destroy() };
};
