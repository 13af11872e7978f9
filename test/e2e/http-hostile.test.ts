/** Requests of attackers, of unusual clients, and repeated requests. */
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { collect, emptyPool, filledPool } from "../support/filled-pool.ts";
import { type RawAnswer, upgrade, upgradeAt } from "../support/raw-http.ts";
import {
  badRequest,
  expectRefusal,
  forbidden,
  invalid,
  notFound,
  type Send,
  sendRaw,
  storedState,
} from "../support/refused-request.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let poolId: string;
beforeAll(async () => {
  stack = await startProject();
  poolId = (await emptyPool(stack.kernel, { size: 2 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const send = (method: string, path: string, more: Send = {}): Promise<RawAnswer> => sendRaw(stack, method, path, more);
const sendJson = (method: string, path: string, body: unknown, headers = {}): Promise<RawAnswer> =>
  send(method, path, { body: JSON.stringify(body), headers });

describe("a hostile request is refused", () => {
  let before: unknown;
  beforeEach(async () => {
    before = await storedState(stack);
  });
  afterEach(async () => expect(await storedState(stack)).toEqual(before));

  // HTTP-26
  test("for a body that is too large", async () => {
    const huge = JSON.stringify({ size: 1, chrome_policy: { HomepageLocation: "x".repeat(7 * 1024 * 1024) } });
    const tooLarge = { status: 413, code: "payload_too_large" };
    expectRefusal(await send("POST", "/browser_pools", { body: huge }), tooLarge);
    const large = JSON.stringify({ tags: { a: "x".repeat(2 * 1024 * 1024) } });
    expectRefusal(await send("POST", `/browser_pools/${poolId}/acquire`, { body: large }), tooLarge);
  });

  test.each(["/browser_pools/%", "/browser_pools/%zz", "/browser_pools/%c3%28"])(
    "for a path with a broken escape: %s",
    async (path) => expectRefusal(await send("GET", path), badRequest),
  );

  test("for headers that are too large", async () => {
    const answer = await send("GET", "/browser_pools", { headers: { "x-huge": "x".repeat(20_000) } });
    expectRefusal(answer, { status: 431, code: "headers_too_large" });
  });

  test.each([
    ['{"size": 1, "fill_rate_per_minute": "x", "__proto__": {"fill_rate_per_minute": 0}}', "fill_rate_per_minute"],
    ['{"__proto__": {"size": 1}}', "size"],
    ['{"constructor": {"prototype": {"size": 1}}}', "size"],
  ])("for what hides behind the name of a prototype: %s", async (body, path) => {
    expectRefusal(await send("POST", "/browser_pools", { body }), invalid(path));
    expect(({} as { size?: number }).size).toBeUndefined();
    expectRefusal(await sendJson("POST", "/browser_pools", {}), invalid("size"));
  });

  // AUTH-9
  test.each(["evil.test", "127.0.0.1.evil.test", "localhost.evil.test:80", "169.254.169.254"])(
    "for a Host that the service does not serve: %j",
    async (host) => {
      expectRefusal(await send("GET", "/browser_pools", { headers: { host } }), forbidden);
      expectRefusal(await upgradeAt(stack.url, "/gateway/x/cdp?jwt=x", { host }), forbidden);
    },
  );

  // AUTH-9
  test.each(["https://evil.test", "null", "http://localhost:1", "not an origin"])(
    "for a page of another Origin: %s",
    async (origin) => {
      expectRefusal(await send("GET", "/browser_pools", { headers: { origin } }), forbidden);
      expectRefusal(await sendJson("POST", "/browser_pools", { size: 1 }, { origin }), forbidden);
      expectRefusal(await upgradeAt(stack.url, "/gateway/x/cdp?jwt=x", { origin }), forbidden);
    },
  );
});

describe("a request of the service's own page", () => {
  test("is served when Origin and Host match", async () => {
    const { host } = new URL(stack.url);
    expect((await send("GET", "/browser_pools", { headers: { origin: `http://${host}` } })).status).toBe(200);
  });

  test("is served under the other loopback name", async () => {
    const host = `localhost:${new URL(stack.url).port}`;
    expect((await send("GET", "/browser_pools", { headers: { host } })).status).toBe(200);
  });

  test("is served when the client also offers HTTP/2", async () => {
    const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQ" };
    expect((await send("GET", "/browser_pools", { headers })).status).toBe(200);
  });
});

describe("a repetition with the same Idempotency-Key", () => {
  const key = (): Record<string, string> => ({ "idempotency-key": newId() });

  // HTTP-21
  test("creates no second pool and gets the same answer", async () => {
    const [headers, body] = [key(), { size: 1, fill_rate_per_minute: 0, name: "only-once" }];
    const first = await sendJson("POST", "/browser_pools", body, headers);
    const second = await sendJson("POST", "/browser_pools", body, headers);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.text).toBe(first.text);
    const named = await collect(stack.kernel.browserPools.list({ name: "only-once" }));
    expect(named).toHaveLength(1);
    await stack.kernel.browserPools.delete("only-once");
  });

  // HTTP-22
  test("and another body is a conflict that the SDK does not retry", async () => {
    const headers = key();
    const first = await sendJson("POST", "/browser_pools", { size: 1, fill_rate_per_minute: 0 }, headers);
    const other = await sendJson("POST", "/browser_pools", { size: 2, fill_rate_per_minute: 0 }, headers);
    expectRefusal(other, { status: 409, code: "idempotency_key_reused" });
    await stack.kernel.browserPools.delete((JSON.parse(first.text) as { id: string }).id);
  });

  // HTTP-21, POOL-7
  test("takes no second browser and gets the same session", async () => {
    const { id } = await filledPool(stack.kernel, { size: 2 });
    const headers = key();
    const acquire = (): Promise<RawAnswer> => sendJson("POST", `/browser_pools/${id}/acquire`, {}, headers);
    const [first, second] = [await acquire(), await acquire()];
    expect(second.text).toBe(first.text);
    expect(await stack.kernel.browserPools.retrieve(id)).toMatchObject({ acquired_count: 1, available_count: 1 });
    await stack.kernel.browserPools.delete(id, { force: true });
  });

  // HTTP-18, HTTP-22
  test("treats no body and an empty body alike", async () => {
    const headers = key();
    const flush = (more: Send): Promise<RawAnswer> => send("POST", `/browser_pools/${poolId}/flush`, more);
    const answers = [await flush({ headers }), await flush({ headers, body: "{}" })];
    expect(answers.map(({ status }) => status)).toEqual([204, 204]);
    expectRefusal(await flush({ headers, body: '{"other": 1}' }), { status: 409, code: "idempotency_key_reused" });
  });

  test("may be a different request under another key", async () => {
    const ids = new Set<string>();
    for (const headers of [key(), key()]) {
      const { text } = await sendJson("POST", "/browser_pools", { size: 1, fill_rate_per_minute: 0 }, headers);
      ids.add((JSON.parse(text) as { id: string }).id);
    }
    expect(ids.size).toBe(2);
    for (const id of ids) await stack.kernel.browserPools.delete(id);
  });

  // LIMIT-12
  test("that is too long is refused", async () =>
    expectRefusal(
      await sendJson("POST", "/browser_pools", { size: 1 }, { "idempotency-key": "k".repeat(256) }),
      badRequest,
    ));
});

// HTTP-23
test("the log lines of a request have its id", async () => {
  const id = `seen-${newId()}`;
  await send("GET", "/browser_pools", { headers: { "x-request-id": id } });
  const folder = join(stack.dataDir, "logs");
  const lines = await eventually("it is logged", async () => {
    const files = (await readdir(folder, { withFileTypes: true })).filter((file) => file.isFile());
    const texts = await Promise.all(files.map(({ name }) => readFile(join(folder, name), "utf8")));
    const found = texts.flatMap((text) => text.split("\n")).filter((line) => line.includes(id));
    return found.length > 0 && found;
  });
  expect(lines.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ request_id: id, status: 200 })]);
});

/** What the server answers to bytes until it closes the connection; the client keeps its side open. */
const answerTo = async (bytes: string): Promise<string> => {
  const { hostname, port } = new URL(stack.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let answer = "";
  socket.on("data", (chunk: Buffer) => {
    answer += chunk;
  });
  const closed = Promise.withResolvers<void>();
  socket.on("error", () => undefined).on("close", () => closed.resolve());
  socket.write(bytes);
  const ended = once(socket, "end").catch(() => undefined);
  await Promise.race([closed.promise, ended]);
  // A closed connection answers more bytes with a reset; a half-open one takes them.
  const timer = setInterval(() => socket.write("x"), 50);
  await closed.promise;
  clearInterval(timer);
  return answer;
};

// HTTP-1
test.each([
  ["no HTTP at all", "hello\r\n\r\n"],
  ["a header without a name", "GET / HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n"],
  ["two lengths", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"],
  [
    "a length and chunks",
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
])("%s is answered in the shape of errors, and the connection is closed", async (_what, bytes) => {
  const answer = await answerTo(bytes);
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "bad_request" });
});

test("a client of a refused upgrade that never hangs up loses its connection", async () => {
  const head = "GET /gateway/x/cdp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  expect(await answerTo(head)).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
});

test("a WebSocket upgrade without a session is refused in the shape of errors", async () => {
  for (const path of ["/", "/browser_pools", "/gateway/x", "/gateway/x/cdp/y", "/gateway/%zz/cdp", "//", "//[", "*"])
    expectRefusal(await upgradeAt(stack.url, path), notFound);
  expectRefusal(await upgrade(`${stack.url}/gateway/x/cdp`), { status: 401, code: "unauthorized" });
});
