/** Files of sessions that have ended, in an installation that keeps them. */
import { readdir, readFile as readText, rename } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { toFile } from "@onkernel/sdk";
import type { BrowserPoolAcquireResponse } from "@onkernel/sdk/resources/browser-pools";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientsOf } from "../support/clients.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalStack, startLocalStack } from "../support/local-stack.ts";

/** How long they are kept here, s. */
const keptSeconds = 45;
const mebibyte = 1024 ** 2;

let stack: LocalStack;
let pool: string;
beforeAll(async () => {
  stack = await startLocalStack({
    env: {
      BROWSERPOOL_KEPT_FILES_SECONDS: String(keptSeconds),
      BROWSERPOOL_KEPT_FILES_BYTES_PER_PROJECT: String(12 * mebibyte),
    },
  });
  pool = (await filledPool(stack.kernel, { size: 1, timeout_seconds: 600 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const acquire = (of = pool): Promise<BrowserPoolAcquireResponse> =>
  stack.kernel.browserPools.acquire(of, { acquire_timeout_seconds: 60 });
const release = (session_id: string, of = pool): Promise<void> => stack.kernel.browserPools.release(of, { session_id });

type Info = { name: string; path: string; is_dir: boolean; size_bytes: number; mode: string; mod_time: string };

const ask = (session: string, call: string, path: string, as: Pick<LocalStack, "call"> = stack): Promise<Response> =>
  as.call("GET", `/browsers/${session}/fs/${call}?${new URLSearchParams({ path })}`);
const bodyOf = async <Body = { code: string; message: string }>(answer: Response): Promise<Body> =>
  (await answer.json()) as Body;
/** The answer once the files of an ended session are stored, or known not to be. */
const stored = (session: string, call: string, path: string): Promise<Response> =>
  eventually(`the files of ${session} are stored`, async () => {
    const answer = await ask(session, call, path);
    return answer.status !== 503 && answer;
  });
const readFile = async (session: string, path: string): Promise<string> =>
  (await ask(session, "read_file", path)).text();

const write = (session: string, path: string, text = path): Promise<void> =>
  stack.kernel.browsers.fs.writeFile(session, text, { path });
const messageOf = async (answer: Response): Promise<string> => (await bodyOf(answer)).message;

const podsNow = (): Promise<string[]> => readdir(join(stack.dataDir, "pods"));
/** The processes that have the uid of a pod in their environment: its agent. */
const agentsOf = async (uid: string): Promise<number[]> => {
  const found: number[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const env = await readText(`/proc/${pid}/environ`, "latin1").catch(() => "");
    if (env.includes(`BROWSERPOOL_POD_UID=${uid}\0`)) found.push(Number(pid));
  }
  expect(found.length).toBeGreaterThan(0);
  return found;
};

/** A session that has ended, and that had a file of so many bytes. */
const leaveBytes = async (bytes: number): Promise<string> => {
  const { session_id: id } = await acquire();
  await write(id, "/tmp/large", "x".repeat(bytes));
  await release(id);
  return id;
};

const strange = "Grüße ✓ \t\u202e\n'\"\\ 文件.txt";

// FILE-12
test("files of a session can be listed and read after its end, with any name, and nothing else can be done", async () => {
  const { session_id: id } = await acquire();
  const { fs } = stack.kernel.browsers;
  await fs.writeFile(id, "hello", { path: "/tmp/a/b.txt", mode: "600" });
  await fs.writeFile(id, "strange", { path: `/tmp/a/${strange}` });
  await fs.writeFile(id, "", { path: "/tmp/empty" });
  const big = Buffer.alloc(3_000_000, "0123456789");
  await fs.writeFile(id, big as unknown as string, { path: "/tmp/big.bin" });
  const live = new Map<string, unknown>();
  for (const path of ["/tmp", "/tmp/a"]) live.set(path, await bodyOf(await ask(id, "list_files", path)));
  await release(id);

  const listed = await stored(id, "list_files", "/tmp/a");
  expect([listed.status, await listed.json()]).toEqual([200, live.get("/tmp/a")]);
  expect((await bodyOf<Info[]>(await ask(id, "list_files", "/tmp"))).map(({ name }) => name)).toEqual(
    (live.get("/tmp") as Info[]).map(({ name }) => name),
  );
  expect(await bodyOf<Info>(await ask(id, "file_info", "/tmp/a/b.txt"))).toMatchObject({
    ...{ name: "b.txt", path: "/tmp/a/b.txt", is_dir: false, size_bytes: 5, mode: "-rw-------" },
  });
  expect(await bodyOf<Info>(await ask(id, "file_info", "/tmp"))).toMatchObject({ path: "/tmp", is_dir: true });
  expect(await (await fs.readFile(id, { path: "/tmp/a/b.txt" })).text()).toBe("hello");
  expect(await readFile(id, `/tmp/a/${strange}`)).toBe("strange");
  expect(await readFile(id, "/tmp/empty")).toBe("");
  expect(Buffer.from(await (await ask(id, "read_file", "/tmp/big.bin")).arrayBuffer()).equals(big)).toBe(true);
});

// FILE-12
test("what is not there, or can't be read, is refused as of an active session", async () => {
  const { session_id: id } = await acquire();
  await write(id, "/tmp/a/file");
  await release(id);
  expect((await stored(id, "list_files", "/tmp/a")).status).toBe(200);
  for (const [call, path, status] of [
    ["list_files", "/tmp/none", 404],
    ["list_files", "/tmp/a/file", 400],
    ["list_files", "/tmp/a/file/below", 400],
    ["list_files", "/etc", 400],
    ["list_files", "/tmp/../etc", 400],
    ["file_info", "/tmp/a/none", 404],
    ["file_info", "/tmp/.browserpool", 404],
    ["read_file", "/tmp/a", 400],
    ["read_file", "/tmp/none", 404],
    ["download_dir_zip", "/tmp/none", 404],
    ["download_dir_zip", "/tmp/a/file", 400],
  ] as const)
    expect([call, path, (await ask(id, call, path)).status]).toEqual([call, path, status]);
});

// FILE-12
test("a folder of an ended session comes as a zip, which another session unpacks", async () => {
  const { session_id: id } = await acquire();
  await write(id, "/tmp/a/b/one.txt", "one");
  await write(id, "/tmp/a/two.txt", "two");
  for (const name of ["..\\up", "C:d"]) await write(id, `/tmp/a/${name}`);
  await write(id, "/tmp/other", "other");
  await release(id);
  expect((await stored(id, "list_files", "/tmp")).status).toBe(200);
  const { fs } = stack.kernel.browsers;
  const zip = Buffer.from(await (await fs.downloadDirZip(id, { path: "/tmp/a" })).arrayBuffer());
  const { session_id: next } = await acquire();
  await fs.uploadZip(next, { dest_path: "/tmp/copy", zip_file: await toFile(zip, "a.zip") });
  expect(await readFile(next, "/tmp/copy/b/one.txt")).toBe("one");
  expect((await bodyOf<Info[]>(await ask(next, "list_files", "/tmp/copy"))).map(({ name }) => name)).toEqual([
    ".._up",
    "C_d",
    "b",
    "two.txt",
  ]);
  await release(next);
});

// FILE-12
test("calls that write stay 404 once a session has ended, and so does its token", async () => {
  const { session_id: id, base_url, cdp_ws_url } = await acquire();
  await write(id, "/tmp/file");
  await release(id);
  expect((await stored(id, "read_file", "/tmp/file")).status).toBe(200);
  const path = "/tmp/file";
  for (const [method, call, body] of [
    ["PUT", `write_file?path=${path}`, undefined],
    ["PUT", "delete_file", { path }],
    ["PUT", "delete_directory", { path }],
    ["PUT", "create_directory", { path: "/tmp/new" }],
    ["PUT", "move", { src_path: path, dest_path: "/tmp/new" }],
    ["PUT", "set_file_permissions", { path, mode: "777" }],
    ["POST", "watch", { path: "/tmp" }],
  ] as const) {
    const answer = await stack.call(method, `/browsers/${id}/fs/${call}`, body);
    expect([call, answer.status]).toEqual([call, 404]);
  }
  const jwt = new URL(cdp_ws_url).searchParams.get("jwt") ?? "";
  expect((await fetch(`${base_url}/fs/read_file?${new URLSearchParams({ path, jwt })}`)).status).toBe(404);
  expect(await readFile(id, path)).toBe(path);
});

// FILE-13
test("another project finds nothing, and a key without the permission is refused", async () => {
  const { session_id: id } = await acquire();
  await write(id, "/tmp/private");
  await release(id);
  expect((await stored(id, "read_file", "/tmp/private")).status).toBe(200);
  const { id: project } = await stack.kernel.projects.create({ name: "another" });
  const other = clientsOf(stack, project);
  for (const call of ["list_files", "file_info", "read_file", "download_dir_zip"])
    expect([call, (await ask(id, call, "/tmp/private", other)).status]).toEqual([call, 404]);
  const made = await stack.call("POST", "/org/api_keys", { name: "reader", permissions: ["pools:read"] });
  const { key: api_key } = await bodyOf<{ key: string }>(made);
  const reader = clientsOf({ ...stack, api_key });
  expect((await ask(id, "read_file", "/tmp/private", reader)).status).toBe(403);
});

// FILE-16
test("files of a browser of its own are kept, also when it ends by its idle timeout", async () => {
  const deleted = await stack.kernel.browsers.create({ headless: true });
  await write(deleted.session_id, "/tmp/file", "deleted");
  await stack.kernel.browsers.deleteByID(deleted.session_id);
  expect(await (await stored(deleted.session_id, "read_file", "/tmp/file")).text()).toBe("deleted");
  const idle = await stack.kernel.browsers.create({ headless: true, timeout_seconds: 10 });
  await write(idle.session_id, "/tmp/file", "idle");
  // A call on its files would be a use of it.
  await eventually("the idle browser has ended", async () => {
    return (await stack.call("GET", `/browsers/${idle.session_id}`)).status === 404;
  });
  const answer = await stored(idle.session_id, "read_file", "/tmp/file");
  expect(await answer.text()).toBe("idle");
});

// FILE-16
test("the files of a browser that is killed are not kept, and the answer says so", async () => {
  const before = await podsNow();
  const { session_id: id } = await stack.kernel.browsers.create({ headless: true });
  await write(id, "/tmp/file");
  const [uid = ""] = (await podsNow()).filter((one) => !before.includes(one));
  for (const agent of await agentsOf(uid)) process.kill(agent, "SIGKILL");
  const answer = await eventually("the browser is known to be gone", async () => {
    const read = await ask(id, "read_file", "/tmp/file");
    return read.status === 404 && read;
  });
  expect(await messageOf(answer)).toMatch(
    /has ended .*(its files were not kept: its browser was gone|no files of it are kept)/,
  );
});

// FILE-16
test("a session ends at once while the store is away, and its files are stored when it is back", async () => {
  const { session_id: id } = await acquire();
  await write(id, "/tmp/file", "late");
  const blobs = join(stack.dataDir, "blobs");
  await rename(blobs, `${blobs}-away`);
  const startMs = performance.now();
  await release(id);
  expect(performance.now() - startMs).toBeLessThan(2500);
  // The browser goes to its next holder.
  const { session_id: next } = await acquire();
  expect((await bodyOf<Info[]>(await ask(next, "list_files", "/tmp"))).map(({ name }) => name)).toEqual(["downloads"]);
  await release(next);
  const waiting = await ask(id, "read_file", "/tmp/file");
  expect([waiting.status, await messageOf(waiting)]).toEqual([503, expect.stringContaining("still being stored")]);
  await rename(`${blobs}-away`, blobs);
  expect(await (await stored(id, "read_file", "/tmp/file")).text()).toBe("late");
});

// FILE-15
test("a project has room for so many bytes, and a session beyond them is said not to be kept", async () => {
  const [first, second] = [await leaveBytes(7 * mebibyte), await leaveBytes(7 * mebibyte)];
  expect((await stored(first, "file_info", "/tmp/large")).status).toBe(200);
  const answer = await stored(second, "file_info", "/tmp/large");
  expect([answer.status, await messageOf(answer)]).toEqual([404, expect.stringContaining("have no more room")]);
});

// FILE-17
test("files go when their time is over", async () => {
  const { session_id: id } = await acquire();
  await write(id, "/tmp/file");
  await release(id);
  expect((await stored(id, "read_file", "/tmp/file")).status).toBe(200);
  await sleep(keptSeconds * 1000);
  const answer = await ask(id, "read_file", "/tmp/file");
  expect([answer.status, await messageOf(answer)]).toEqual([404, expect.stringContaining("no files of it are kept")]);
});
