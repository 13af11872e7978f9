/** The bounds of the extensions that a holder sends. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { receiveExtensions } from "../../../../src/features/extensions/agent/receive-extensions.ts";
import { markingExtension } from "../../../support/marking-extension.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "received-"));
});
afterAll(() => rm(folder, { recursive: true }));

const { signal } = new AbortController();
const one = markingExtension("one").length;
const generous = { extensions: 20, bytes: 1e6, unpackedBytes: 1e6 };

/** A request with marking extensions of these names. */
const requestOf = async (...names: string[]): Promise<IncomingMessage> => {
  const form = new FormData();
  for (const [index, name] of names.entries()) {
    form.append(`extensions[${index}][name]`, name);
    form.append(`extensions[${index}][zip_file]`, new Blob([new Uint8Array(markingExtension(name))]), "x.zip");
  }
  const body = new Response(form);
  const bytes = Buffer.from(await body.arrayBuffer());
  return Object.assign(Readable.from([bytes]), {
    headers: { "content-type": body.headers.get("content-type") ?? "" },
  }) as unknown as IncomingMessage;
};

// EXTENSION-20
test.each([
  ["extensions", { extensions: 3 }, { code: "conflict", message: "extensions: a browser has 20 at most" }],
  [
    "bytes of archives",
    { bytes: 2 * one - 1 },
    { code: "payload_too_large", message: expect.stringMatching(/archives/) },
  ],
  ["bytes of files", { unpackedBytes: one }, { code: "payload_too_large", message: expect.stringMatching(/files/) }],
] as const)("too many %s together are refused, and leave nothing", async (_what, most, refusal) => {
  const place = { folder, loaded: [], present: 2 };
  const all = { ...generous, ...most };
  const received = receiveExtensions(await requestOf("one", "two"), place, signal, all);
  await expect(received).rejects.toMatchObject(refusal);
  expect(await readdir(folder)).toEqual([]);
});

// EXTENSION-20
test("what the session has already counts, and what is not kept is removed", async () => {
  const first = await receiveExtensions(await requestOf("one"), { folder, loaded: [], present: 0 }, signal);
  const loaded = first.keep();
  await first[Symbol.asyncDispose]();
  expect(await readdir(folder)).toHaveLength(1);
  const place = { folder, loaded, present: 0 };
  await expect(
    receiveExtensions(await requestOf("two"), place, signal, { ...generous, bytes: 2 * one - 1 }),
  ).rejects.toMatchObject({ code: "payload_too_large" });
  const second = await receiveExtensions(await requestOf("two"), place, signal);
  expect(await readdir(folder)).toHaveLength(2);
  await second[Symbol.asyncDispose]();
  expect(await readdir(folder)).toHaveLength(1);
});
