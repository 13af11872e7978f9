/** The files of a session, as the SDK reaches them. */
import { toFile } from "@onkernel/sdk";
import type { BrowserPoolAcquireResponse } from "@onkernel/sdk/resources/browser-pools";
import puppeteer, { type Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let pool: string;
beforeAll(async () => {
  stack = await startStack();
  pool = (await filledPool(stack.kernel, { size: 1 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const acquire = (of = pool): Promise<BrowserPoolAcquireResponse> =>
  stack.kernel.browserPools.acquire(of, { acquire_timeout_seconds: 60 });
const release = (session_id: string, of = pool): Promise<void> => stack.kernel.browserPools.release(of, { session_id });
const connect = ({ cdp_ws_url }: BrowserPoolAcquireResponse): Promise<Browser> =>
  puppeteer.connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
const namesIn = async (session: string, path: string): Promise<string[]> =>
  (await stack.kernel.browsers.fs.listFiles(session, { path })).map(({ name }) => name);

/** Has the page save a small file under this name. */
const download = async (browser: Browser, name: string): Promise<void> => {
  const page = await browser.newPage();
  await page.setContent(`<a id="a" download="${name}" href="data:application/octet-stream,contents">save</a>`);
  await page.click("#a");
};

// FILE-1, FILE-4, FILE-5
test("the SDK writes, reads, lists, moves and deletes files of a session", async () => {
  const { session_id: id } = await acquire();
  const { fs } = stack.kernel.browsers;
  expect(await namesIn(id, "/tmp")).toEqual(["downloads"]);
  await fs.writeFile(id, "hello", { path: "/tmp/a/b.txt", mode: "600" });
  expect(await (await fs.readFile(id, { path: "/tmp/a/b.txt" })).text()).toBe("hello");
  expect(await fs.fileInfo(id, { path: "/tmp/a/b.txt" })).toEqual({
    ...{ name: "b.txt", path: "/tmp/a/b.txt", is_dir: false, size_bytes: 5, mode: "-rw-------" },
    mod_time: expect.any(String),
  });
  await fs.createDirectory(id, { path: "/tmp/c/d", mode: "700" });
  await fs.move(id, { src_path: "/tmp/a/b.txt", dest_path: "/tmp/c/d/e.txt" });
  await fs.setFilePermissions(id, { path: "/tmp/c/d/e.txt", mode: "644" });
  const zip = Buffer.from(await (await fs.downloadDirZip(id, { path: "/tmp/c" })).arrayBuffer());
  expect(zip.subarray(0, 2).toString()).toBe("PK");
  await fs.uploadZip(id, { dest_path: "/tmp/copy", zip_file: await toFile(zip, "c.zip") });
  expect(await fs.listFiles(id, { path: "/tmp/copy/d" })).toMatchObject([{ name: "e.txt", mode: "-rw-r--r--" }]);
  const files = [
    { dest_path: "/tmp/many/one", file: await toFile(Buffer.from("1"), "one") },
    { dest_path: "/tmp/many/two", file: await toFile(Buffer.from("22"), "two") },
  ];
  await fs.upload(id, { files });
  expect(await fs.listFiles(id, { path: "/tmp/many" })).toMatchObject([{ size_bytes: 1 }, { size_bytes: 2 }]);
  await fs.deleteFile(id, { path: "/tmp/many/one" });
  for (const path of ["/tmp/a", "/tmp/c", "/tmp/copy", "/tmp/many"]) await fs.deleteDirectory(id, { path });
  expect(await namesIn(id, "/tmp")).toEqual(["downloads"]);
  await release(id);
});

// FILE-7
test("a watch tells what happens in a folder, and ends with its session", async () => {
  const { session_id: id } = await acquire();
  const { fs } = stack.kernel.browsers;
  const { watch_id = "" } = await fs.watch.start(id, { path: "/tmp", recursive: true });
  const events = await fs.watch.events(watch_id, { id });
  await fs.writeFile(id, "x", { path: "/tmp/a/one" });
  await fs.move(id, { src_path: "/tmp/a/one", dest_path: "/tmp/a/two" });
  await fs.deleteFile(id, { path: "/tmp/a/two" });
  const seen: string[] = [];
  for await (const { type, path } of events) {
    seen.push(`${type} ${path}`);
    if (type === "DELETE") await release(id);
  }
  expect(seen.filter((one) => !one.startsWith("WRITE"))).toEqual([
    "CREATE /tmp/a",
    "CREATE /tmp/a/one",
    "RENAME /tmp/a/one",
    "CREATE /tmp/a/two",
    "DELETE /tmp/a/two",
  ]);
});

describe("a download", () => {
  // FILE-8
  test.each([true, false])("lands among the files, headless: %s, with no word of a client", async (headless) => {
    const { id: own } = await filledPool(stack.kernel, { size: 1, headless });
    const session = await acquire(own);
    const browser = await connect(session);
    await download(browser, "report.bin");
    await eventually("the download is whole", async () =>
      (await namesIn(session.session_id, "/tmp/downloads")).includes("report.bin"),
    );
    const path = "/tmp/downloads/report.bin";
    expect(await (await stack.kernel.browsers.fs.readFile(session.session_id, { path })).text()).toBe("contents");
    await browser.disconnect();
    await stack.kernel.browserPools.delete(own, { force: true });
  });

  // FILE-8
  test("goes where a client says, and lands among the files again when that client has left", async () => {
    const session = await acquire();
    const client = await connect(session);
    const cdp = await client.target().createCDPSession();
    await cdp.send("Browser.setDownloadBehavior", { behavior: "allowAndName", downloadPath: "/tmp/elsewhere" });
    await download(client, "one.bin");
    await eventually("it is where the client said", async () =>
      (await namesIn(session.session_id, "/tmp")).includes("elsewhere"),
    );
    await client.disconnect();
    const next = await connect(session);
    await eventually("downloads land among the files", async () => {
      await download(next, "two.bin");
      return (await namesIn(session.session_id, "/tmp/downloads")).includes("two.bin");
    });
    await next.disconnect();
    await release(session.session_id);
  });
});

// FILE-9
test.each(["reset", "keep"] as const)("the next holder finds no file of the one before: %s", async (reuse_policy) => {
  const { id: own } = await filledPool(stack.kernel, { size: 1, reuse_policy });
  const first = await acquire(own);
  const client = await connect(first);
  await download(client, "mine.bin");
  await client.disconnect();
  await stack.kernel.browsers.fs.writeFile(first.session_id, "mine", { path: "/tmp/mine" });
  const { watch_id = "" } = await stack.kernel.browsers.fs.watch.start(first.session_id, { path: "/tmp" });
  await release(first.session_id, own);
  const second = await acquire(own);
  expect(await namesIn(second.session_id, "/tmp")).toEqual(["downloads"]);
  expect(await namesIn(second.session_id, "/tmp/downloads")).toEqual([]);
  const stop = stack.kernel.browsers.fs.watch.stop(watch_id, { id: second.session_id });
  await expect(stop).rejects.toMatchObject({ status: 404 });
  await release(second.session_id, own);
});

// FILE-9
test("files stay when their holder has another Chromium started", async () => {
  const { id: profile } = await stack.kernel.profiles.create({ name: "for-files" });
  const { session_id: id } = await acquire();
  await stack.kernel.browsers.fs.writeFile(id, "mine", { path: "/tmp/mine" });
  await stack.kernel.browsers.update(id, { profile: { id: profile } });
  expect(await namesIn(id, "/tmp")).toEqual(["downloads", "mine"]);
  await release(id);
  const { session_id: next } = await acquire();
  expect(await namesIn(next, "/tmp")).toEqual(["downloads"]);
  await release(next);
  await stack.kernel.profiles.delete(profile);
});

/** Every route of a session's files, with what each needs. */
const routes: [method: string, name: string, body?: object][] = [
  ["GET", "list_files?path=/tmp"],
  ["GET", "file_info?path=/tmp"],
  ["GET", "read_file?path=/tmp/x"],
  ["GET", "download_dir_zip?path=/tmp"],
  ["GET", "watch/x/events"],
  ["PUT", "write_file?path=/tmp/x"],
  ["PUT", "create_directory", { path: "/tmp/x" }],
  ["PUT", "delete_directory", { path: "/tmp/x" }],
  ["PUT", "delete_file", { path: "/tmp/x" }],
  ["PUT", "move", { src_path: "/tmp/x", dest_path: "/tmp/y" }],
  ["PUT", "set_file_permissions", { path: "/tmp/x", mode: "644" }],
  ["POST", "watch", { path: "/tmp" }],
  ["DELETE", "watch/x"],
];

// FILE-10
test("a watch that the session does not have has no events", async () => {
  const { session_id: id } = await acquire();
  const unknown = await stack.call("GET", `/browsers/${id}/fs/watch/unknown/events`);
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({ code: "not_found", message: `session ${id} has nothing of this id` });
  await release(id);
});

// FILE-10
test("another key's project, an ended session and an unknown one get 404 on each route", async () => {
  const session = await acquire();
  const other = await stack.kernel.projects.create({ name: "other files" });
  const elsewhere = { "X-Kernel-Project-Id": other.id };
  const statusOf = async (id: string, headers: Record<string, string>): Promise<number[]> => {
    const statuses = [];
    for (const [method, name, body] of routes)
      statuses.push((await stack.call(method, `/browsers/${id}/fs/${name}`, body, headers)).status);
    return statuses;
  };
  const missing = routes.map(() => 404);
  expect(await statusOf(session.session_id, elsewhere)).toEqual(missing);
  expect(await statusOf("unknown", {})).toEqual(missing);
  await release(session.session_id);
  expect(await statusOf(session.session_id, {})).toEqual(missing);
  const token = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "";
  for (const [method, name] of routes) {
    const below = new URL(`${session.base_url}/fs/${name}`);
    expect((await fetch(below, { method })).status).toBe(401);
    below.searchParams.set("jwt", token);
    expect((await fetch(below, { method })).status).toBe(404);
  }
});

// FILE-10, HTTP-41
test("below the session's base_url its token reaches the files, and no other token does", async () => {
  const session = await acquire();
  const jwt = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "";
  const below = (name: string, query: Record<string, string>): URL =>
    new URL(`${session.base_url}/fs/${name}?${new URLSearchParams({ ...query, jwt })}`);
  const written = await fetch(below("write_file", { path: "/tmp/x" }), { method: "PUT", body: "by token" });
  expect(written.status).toBe(204);
  expect(await (await fetch(below("read_file", { path: "/tmp/x" }))).text()).toBe("by token");
  expect((await fetch(below("list_files", { path: "/etc" }))).status).toBe(400);
  await release(session.session_id);
  const next = await acquire();
  const others = new URL(`${next.base_url}/fs/list_files?${new URLSearchParams({ path: "/tmp", jwt })}`);
  expect((await fetch(others)).status).toBe(401);
  await release(next.session_id);
});

// FILE-4, FILE-6
test("a file that its sender breaks off is not there; one that is too large is refused while it is sent", async () => {
  const { session_id: id } = await acquire();
  const pieces = async function* (count: number): AsyncGenerator<Uint8Array> {
    for (let piece = 0; piece < count; piece += 1) yield new Uint8Array(1024 * 1024);
    if (count < 100) throw new Error("broken off");
  };
  const put = (count: number): Promise<Response> =>
    fetch(`${stack.url}/browsers/${id}/fs/write_file?path=/tmp/large`, {
      method: "PUT",
      headers: { authorization: `Bearer ${stack.api_key}` },
      body: ReadableStream.from(pieces(count)),
      duplex: "half",
    } as RequestInit);
  await expect(put(20)).rejects.toThrow();
  expect(await namesIn(id, "/tmp")).toEqual(["downloads"]);
  const answer = await put(1100);
  expect([answer.status, await answer.json()]).toEqual([413, expect.objectContaining({ code: "payload_too_large" })]);
  expect(await namesIn(id, "/tmp")).toEqual(["downloads"]);
  await release(id);
});
