import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdir, rename, rm, writeFile } from "node:fs/promises";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { toFile } from "@onkernel/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import {
  archiveKey,
  type Extension,
  extensionKind,
  formerKey,
  uploadUntilAnnotation,
} from "../../../src/features/extensions/extension.ts";
import { blobsFinalizer } from "../../../src/platform/kinds/kind.ts";
import { eventually } from "../../support/eventually.ts";
import { writeZip } from "../../support/zip-writer.ts";
import { fresh, startVaultParts, type VaultParts } from "../vaults/vault-parts.ts";
import { manifest } from "./zip/extension-files.ts";

let parts: VaultParts;
let url: string;
beforeAll(async () => {
  parts = await startVaultParts();
  url = parts.client().baseURL;
});
afterAll(() => parts?.[Symbol.asyncDispose]());

const { signal } = new AbortController();
const zip = (fields: object = {}): Buffer => writeZip([manifest(fields), { name: "a.js", content: "console.log(1)" }]);
const digestOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Answer = { status: number; body: any };

const send = async (form: FormData, headers: Record<string, string> = {}): Promise<Answer> => {
  const response = await fetch(`${url}/extensions`, {
    method: "POST",
    headers: { authorization: `Bearer ${parts.apiKey}`, ...headers },
    body: form,
  });
  return { status: response.status, body: await response.json() };
};

const formWith = (bytes: Buffer, fields: Record<string, string> = {}): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", new Blob([new Uint8Array(bytes)]), "extension.zip");
  return form;
};

const upload = (bytes: Buffer, fields?: Record<string, string>): Promise<Answer> => send(formWith(bytes, fields));

const objects = async (): Promise<Extension[]> =>
  (await parts.kube.list(extensionKind, { namespace: parts.namespace })).items;

const blobs = async (): Promise<string[]> =>
  readdir(join(parts.blobsFolder, "extensions", parts.namespace)).catch(() => []);

/** No object of a failed upload is left, and no archive without an object. */
const nothingIsLeft = (): Promise<unknown> =>
  eventually("every object has an archive, and every archive an object", async () => {
    const known = await objects();
    const stored = known.filter(({ spec }) => spec.archive).map(({ metadata }) => metadata.name);
    return known.length === stored.length && (await blobs()).sort().join() === stored.sort().join();
  });

// EXTENSION-2
test("the public SDK uploads, lists, reads, downloads and deletes an extension", async () => {
  const { extensions } = parts.client();
  const bytes = zip();
  const name = fresh("extension");
  const made = await extensions.upload({ file: await toFile(bytes, "extension.zip"), name });
  expect(made).toEqual({
    id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/),
    name,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    size_bytes: bytes.length,
    checksum: digestOf(bytes),
  });
  expect(await extensions.get(name)).toEqual(made);
  expect((await extensions.list({ query: name.slice(2) })).getPaginatedItems()).toEqual([made]);
  expect((await extensions.list({ name: "another" })).getPaginatedItems()).toEqual([]);
  const file = await extensions.download(made.id);
  expect(file.headers.get("content-disposition")).toBe(`attachment; filename="${name}.zip"`);
  expect(digestOf(Buffer.from(await file.arrayBuffer()))).toBe(made.checksum);

  const [object] = (await objects()).filter(({ metadata }) => metadata.name === made.id);
  expect(object?.spec.archive).toEqual({
    sha256: made.checksum,
    sizeBytes: bytes.length,
    name: "Sample",
    version: "1.2.3",
  });
  await eventually("the extension is ready", async () => {
    const now = await parts.kube.get(extensionKind, { namespace: parts.namespace, name: made.id });
    return now?.status?.conditions.some(({ type, reason }) => type === "Ready" && reason === "Stored");
  });
  await extensions.delete(made.id);
  await expect(extensions.get(made.id)).rejects.toMatchObject({ status: 404 });
  await nothingIsLeft();
});

// EXTENSION-2
test("an extension without a name has none", async () => {
  const { status, body } = await upload(zip());
  expect([status, body.name]).toEqual([201, null]);
});

// HTTP-15
test("of uploads of one name at once one wins, and the others leave nothing", async () => {
  const name = fresh("extension");
  const uploads = await Promise.all([upload(zip(), { name }), upload(zip({ version: "2" }), { name })]);
  expect(uploads.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect(uploads.find(({ status }) => status === 409)?.body.code).toBe("name_taken");
  await nothingIsLeft();
});

// HTTP-21
test("a repeated upload with an idempotency key is done once", async () => {
  const name = fresh("extension");
  const headers = { "idempotency-key": newId() };
  const first = await send(formWith(zip(), { name }), headers);
  expect(first.status).toBe(201);
  expect(await send(formWith(zip(), { name }), headers)).toEqual(first);
  const other = await send(formWith(zip({ version: "2" }), { name }), headers);
  expect(other.body.code).toBe("idempotency_key_reused");
});

// EXTENSION-6, EXTENSION-8
describe("what is no extension is refused, and nothing is left", () => {
  test("an archive that breaks a rule is 400 with the entry and the rule", async () => {
    const { status, body } = await upload(writeZip([manifest(), { name: "../evil.js", content: "x" }]));
    expect(status).toBe(400);
    expect(body.details).toEqual([
      { code: "name_path", path: "file", message: 'file: "../evil.js": the name has the part ".."' },
    ]);
    await nothingIsLeft();
  });

  test("an archive above 50 MiB is 413", async () => {
    const { status, body } = await upload(Buffer.alloc(50 * 1024 * 1024 + 1));
    expect([status, body.code]).toEqual([413, "payload_too_large"]);
  });

  test("a form of endless fields is refused early", async () => {
    const { status } = await send(
      formWith(zip(), Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, "x"]))),
    );
    expect(status).toBe(400);
  });

  test.each([
    ["no file", () => new FormData(), "file"],
    ["a bad name", () => formWith(zip(), { name: "no spaces" }), "name"],
    [
      "two files",
      () => {
        const form = formWith(zip());
        form.append("file", new Blob(["x"]), "second.zip");
        return form;
      },
      "file",
    ],
    [
      "a name twice",
      () => {
        const form = formWith(zip(), { name: "one" });
        form.append("name", "two");
        return form;
      },
      "name",
    ],
  ])("a form with %s is 400", async (_what, form, path) => {
    const { status, body } = await send(form());
    expect(status, JSON.stringify(body)).toBe(400);
    expect(body.details?.[0]?.path ?? body.message).toContain(path);
  });

  test("other bodies are 415, and no other route takes a form", async () => {
    expect((await parts.call("POST", "/extensions", { name: "x" })).status).toBe(415);
    const response = await fetch(`${url}/vaults`, {
      method: "POST",
      headers: { authorization: `Bearer ${parts.apiKey}` },
      body: formWith(zip()),
    });
    expect(response.status).toBe(415);
  });
});

/** An upload of which only the beginning is sent. */
const beginUpload = async (apiKey: string): Promise<{ request: ClientRequest; answer: Promise<IncomingMessage> }> => {
  const request = httpRequest(`${url}/extensions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": "multipart/form-data; boundary=b",
      "transfer-encoding": "chunked",
    },
  });
  const answer = once(request, "response").then(([response]) => response as IncomingMessage);
  answer.catch(() => undefined);
  request.on("error", () => undefined);
  request.write('--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\nPK');
  return { request, answer };
};

const status = async (answer: Promise<IncomingMessage>): Promise<number | undefined> => {
  const response = await answer;
  await text(response);
  return response.statusCode;
};

// EXTENSION-9
test("uploads at once are bounded for each key, and another key has its own", async () => {
  const { key } = (await parts.call("POST", "/org/api_keys", { name: fresh("key") })).body;
  await eventually("the key is known", async () => {
    const response = await fetch(`${url}/extensions`, { headers: { authorization: `Bearer ${key}` } });
    await response.text();
    return response.status === 200;
  });
  const slow = [await beginUpload(key), await beginUpload(key)];
  try {
    const refused = await eventually("a third upload is refused", async () => {
      const third = await beginUpload(key);
      const answered = await Promise.race([status(third.answer), sleep(500)]);
      third.request.destroy();
      return answered;
    });
    expect(refused).toBe(429);
    expect((await upload(zip())).status).toBe(201);
  } finally {
    for (const { request } of slow) request.destroy();
  }
  await eventually("the places are free again", async () => {
    const response = await fetch(`${url}/extensions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: formWith(zip()),
    });
    await response.text();
    return response.status === 201;
  });
});

// EXTENSION-8
test("while the store is away an upload is 503, and leaves nothing", async () => {
  await upload(zip());
  const aside = `${parts.blobsFolder}-aside`;
  await rename(parts.blobsFolder, aside);
  await writeFile(parts.blobsFolder, "not a folder");
  const before = (await objects()).filter(({ spec }) => spec.archive).length;
  const name = fresh("extension");
  const { status: answered, body } = await upload(zip(), { name });
  expect([answered, body.code]).toEqual([503, "unavailable"]);
  expect((await parts.call("GET", `/extensions/${name}/metadata`)).status).toBe(404);
  await rm(parts.blobsFolder);
  await rename(aside, parts.blobsFolder);
  await nothingIsLeft();
  expect(await objects()).toHaveLength(before);
  expect((await upload(zip(), { name })).status).toBe(201);
});

// EXTENSION-8
test("what a replica leaves that dies during an upload is deleted with its archive; until then nothing shows it", async () => {
  const name = fresh("extension");
  const leave = (untilMs: number): Promise<Extension> =>
    parts.kube.create(extensionKind, {
      metadata: {
        name: newId(),
        namespace: parts.namespace,
        finalizers: [blobsFinalizer],
        annotations: { [uploadUntilAnnotation]: new Date(untilMs).toISOString() },
      },
      spec: { name },
    });
  const young = await leave(Date.now() + 600_000);
  expect((await parts.call("GET", `/extensions/${name}/metadata`)).status).toBe(404);
  expect((await parts.call("GET", `/extensions?name=${name}`)).body).toEqual([]);
  expect((await upload(zip(), { name })).body.code).toBe("name_taken");
  await parts.kube.delete(extensionKind, young.metadata);
  await nothingIsLeft();

  const soon = await leave(Date.now() + 1000);
  await parts.blobs.put(archiveKey(soon), new Blob(["left over"]).stream(), { signal });
  await nothingIsLeft();
  expect((await upload(zip(), { name })).status).toBe(201);
});

// EXTENSION-10
test("an extension from YAML has no archive: it says so, and HTTP does not show it", async () => {
  const object = await parts.kube.create(extensionKind, {
    metadata: { name: fresh("by-yaml"), namespace: parts.namespace },
    spec: {},
  });
  const reason = await eventually("a condition", async () => {
    const now = await parts.kube.get(extensionKind, object.metadata);
    return now?.status?.conditions.find(({ type }) => type === "Ready")?.reason;
  });
  expect(reason).toBe("NoArchive");
  expect((await parts.call("GET", `/extensions/${object.metadata.name}`)).status).toBe(404);
  await parts.kube.delete(extensionKind, object.metadata);
});

// EXTENSION-16
test("an extension from a backup finds its archive by its name, moved from where an older release had it", async () => {
  const [name, old] = [fresh("restored"), fresh("old")];
  const bytes = zip();
  const archive = { sha256: digestOf(bytes), sizeBytes: bytes.length, name: "X", version: "1" };
  const put = (key: string) => parts.blobs.put(key, new Blob([Uint8Array.from(bytes)]).stream(), { signal });
  const make = (of: string, spec: object): Promise<Extension> =>
    parts.kube.create(extensionKind, { metadata: { name: of, namespace: parts.namespace }, spec });
  await put(archiveKey({ metadata: { name, namespace: parts.namespace } } as Extension));
  const restored = await make(name, { archive });
  const { metadata } = await make(old, {});
  await put(formerKey({ metadata }));
  await parts.kube.patch(extensionKind, metadata, { spec: { archive } });
  for (const made of [restored.metadata.name, old]) {
    await eventually("its archive is found", async () => {
      const now = await parts.kube.get(extensionKind, { namespace: parts.namespace, name: made });
      return now?.status?.storedSha256 === archive.sha256;
    });
    const answer = await parts.client().extensions.download(made);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    await parts.kube.delete(extensionKind, { namespace: parts.namespace, name: made });
  }
  await nothingIsLeft();
  expect(await parts.blobs.get(formerKey({ metadata }), { signal })).toBeUndefined();
});

// EXTENSION-4, EXTENSION-11
test("a pool answers its extensions in their order, and one that is in use stays", async () => {
  const [first, second] = [fresh("extension"), fresh("extension")];
  const ids: Record<string, string> = {};
  for (const name of [first, second]) ids[name] = (await upload(zip(), { name })).body.id;
  const pool = { name: fresh("pool"), size: 1, fill_rate_per_minute: 0 };
  const { status: created, body } = await parts.call("POST", "/browser_pools", {
    ...pool,
    extensions: [{ name: second }, { id: ids[first] }],
  });
  expect(created, JSON.stringify(body)).toBe(200);
  expect(body.extension_ids).toEqual([ids[second], ids[first]]);
  const refused = await parts.call("DELETE", `/extensions/${second}`);
  expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
  expect(refused.body.message).toContain(pool.name);
  await parts.call("PATCH", `/browser_pools/${body.id}`, { extensions: [{ id: ids[first] }] });
  expect((await parts.call("DELETE", `/extensions/${second}`)).status).toBe(204);
  const unknown = await parts.call("PATCH", `/browser_pools/${body.id}`, { extensions: [{ name: second }] });
  expect([unknown.status, unknown.body.details[0].path]).toEqual([404, "extensions[0]"]);
});

// AUTH-8
test("another project sees nothing of an extension", async () => {
  const name = fresh("extension");
  const { body } = await upload(zip(), { name });
  for (const path of [`/extensions/${body.id}`, `/extensions/${name}/metadata`])
    expect((await parts.call("GET", path, undefined, parts.other.projectId)).status).toBe(404);
  expect((await parts.call("DELETE", `/extensions/${body.id}`, undefined, parts.other.projectId)).status).toBe(404);
  expect((await parts.call("GET", "/extensions", undefined, parts.other.projectId)).body).toEqual([]);
});

// EXTENSION-12
test("the Chrome Web Store can't be reached from here", async () => {
  const answer = await parts.call(
    "GET",
    "/extensions/from_chrome_store?url=https://chromewebstore.google.com/detail/x",
  );
  expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([400, "not_supported_here", "url"]);
});
