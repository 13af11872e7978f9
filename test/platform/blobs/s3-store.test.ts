import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { ListMultipartUploadsCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BlobStore } from "../../../src/platform/blobs/blob-store.ts";
import { openBlobStore } from "../../../src/platform/blobs/open-blob-store.ts";
import { freeze } from "../../support/processes.ts";
import { type S3Server, startS3Server, withoutS3 } from "../../support/s3-server.ts";
import { blobStoreContract, call, chunksOf, manyParts, readBlob, stalledAfter } from "./blob-store-contract.ts";

const unavailable = { code: "unavailable", retryAfterSeconds: 1 };

describe.skipIf(withoutS3())("with S3", () => {
  let server: S3Server;
  let store: BlobStore;
  let close: () => void;
  let admin: S3Client;

  const uploads = async (): Promise<string[]> => {
    const { Uploads = [] } = await admin.send(new ListMultipartUploadsCommand({ Bucket: server.settings.bucket }));
    return Uploads.map(({ Key = "" }) => Key);
  };

  beforeAll(async () => {
    server = await startS3Server();
    ({ store, close } = await openBlobStore({ ...server.settings, prefix: "team/a/" }));
    const { region, endpoint } = server.settings;
    admin = new S3Client({ region, endpoint: `${endpoint}`, forcePathStyle: true });
  });
  afterAll(async () => {
    admin?.destroy();
    close?.();
    await server?.[Symbol.asyncDispose]();
  });

  blobStoreContract(() => store, uploads);

  test("keeps everything below the prefix", async () => {
    await store.put("profiles/below/1", chunksOf(Buffer.from("x")), call());
    expect(await readdir(join(server.bucketFolder, "team/a/profiles/below"))).toEqual(["1"]);
  });

  test("a server that dies in mid-put leaves nothing under the key, and the next put goes well", async () => {
    const { body, reached, goOn } = stalledAfter(Buffer.alloc(manyParts, "a"));
    const put = store.put("profiles/mid-put/1", body, call());
    await Promise.race([reached, put]);
    await server.kill();
    goOn();
    await expect(put).rejects.toMatchObject(unavailable);
    await server.start();
    expect(await store.get("profiles/mid-put/1", call())).toBeUndefined();
    const whole = Buffer.alloc(manyParts, "b");
    await store.put("profiles/mid-put/1", chunksOf(whole), call());
    expect((await readBlob(store, "profiles/mid-put/1"))?.equals(whole)).toBe(true);
  });

  test("a server that dies in mid-get ends the reader", async () => {
    await store.put("profiles/mid-get/1", chunksOf(Buffer.alloc(3 * manyParts)), call());
    const blob = await store.get("profiles/mid-get/1", call());
    const reading = (async () => {
      let isFirst = true;
      for await (const _ of blob?.body ?? []) {
        if (isFirst) await server.kill();
        isFirst = false;
      }
    })();
    await expect(reading).rejects.toMatchObject(unavailable);
    await server.start();
  });

  test("a server that is away is unavailable for every call", async () => {
    await server.kill();
    const text = chunksOf(Buffer.from("x"));
    await expect(store.put("profiles/away/1", text, call())).rejects.toMatchObject(unavailable);
    await expect(store.get("profiles/away/1", call())).rejects.toMatchObject(unavailable);
    await expect(store.delete("profiles/away/1", call())).rejects.toMatchObject(unavailable);
    await expect(store.check(call())).rejects.toMatchObject(unavailable);
    await server.start();
    await store.check(call());
  });

  const calls: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
    put: (signal) => store.put("profiles/still/1", chunksOf(Buffer.from("x")), { signal }),
    get: (signal) => store.get("profiles/still/1", { signal }),
    delete: (signal) => store.delete("profiles/still/1", { signal }),
    list: (signal) => store.list("profiles", { signal })[Symbol.asyncIterator]().next(),
    check: (signal) => store.check({ signal }),
  };
  test.each(Object.keys(calls))(
    "%s at a server that stands still lasts no longer than its caller waits",
    async (name) => {
      await freeze(server.child().pid);
      try {
        const caller = new AbortController();
        const called = calls[name]?.(caller.signal);
        await turn();
        const reason = new Error("the caller is gone");
        caller.abort(reason);
        await expect(called).rejects.toBe(reason);
      } finally {
        server.child().kill("SIGCONT");
      }
    },
    20_000,
  );

  test("a bucket that is not there and a wrong login are told by the check, without what was signed", async () => {
    const other = await openBlobStore({ ...server.settings, bucket: "no-such-bucket" });
    await expect(other.store.check(call())).rejects.toMatchObject(unavailable);
    await expect(other.store.get("profiles/a/1", call())).rejects.toMatchObject(unavailable);
    other.close();
    const secret = process.env.AWS_SECRET_ACCESS_KEY;
    process.env.AWS_SECRET_ACCESS_KEY = "wrong";
    const stranger = await openBlobStore(server.settings);
    try {
      const failure = await stranger.store.get("profiles/a/1", call()).catch((error) => error);
      expect(failure).toMatchObject(unavailable);
      expect(Object.keys(failure.cause)).toEqual([]);
      expect(failure.cause.message).toContain("SignatureDoesNotMatch");
      expect(failure.cause.message).not.toMatch(/AWS4-HMAC|test-access|wrong/);
    } finally {
      process.env.AWS_SECRET_ACCESS_KEY = secret;
      stranger.close();
    }
  });
});
