/** The wall's proxy with whatever bytes a hostile renderer could send to it, and servers that behave badly. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { allOf, startRawServer, startTestProxy } from "../../../support/wall/proxy-client.ts";

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const count = (text: string, part: string | RegExp): number => text.split(part).length - 1;

describe("a plain request", () => {
  test("goes on with its headers as they were written, without those of the connection, and the URL's host", async () => {
    await using server = await startRawServer((socket) => socket.write(hello));
    await using proxy = await startTestProxy();
    const answer = await proxy.send(
      [
        `GET http://${server.host}/a?b=c HTTP/1.1`,
        "Host: other.example",
        "X-Mixed-Case: 1",
        "Accept: a",
        "Accept: b",
        "Proxy-Authorization: Basic eDp5",
        "X-Named: gone",
        "Connection: close, x-named",
        "TE: trailers",
        "\r\n",
      ].join("\r\n"),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*hello$/);
    const [line, ...headers] = (server.received[0] ?? "").trimEnd().split("\r\n");
    expect(line).toBe("GET /a?b=c HTTP/1.1");
    expect(headers).toEqual([
      `Host: ${server.host}`,
      "X-Mixed-Case: 1",
      "Accept: a",
      "Accept: b",
      "Connection: keep-alive",
    ]);
  });

  test.each([
    ["/a?", "/a?"],
    ["/?x=%20%3f", "/?x=%20%3f"],
    ["", "/"],
    ["?b", "/?b"],
    ["/a?#part", "/a?"],
  ])("for the path %j asks the server for %s", async (written, asked) => {
    await using server = await startRawServer((socket) => socket.write(hello));
    await using proxy = await startTestProxy();
    await proxy.send(`GET http://ann:pw@${server.host}${written} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(server.received[0]).toMatch(`GET ${asked} HTTP/1.1\r\nHost: ${server.host}\r\n`);
  });

  const inner = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  test.each([
    ["a length that Connection names", ["Connection: close, content-length", `Content-Length: ${inner.length}`], inner],
    [
      "a chunked body on GET",
      ["Connection: close", "Transfer-Encoding: chunked"],
      `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
    ],
    [
      "a chunked body that Connection names",
      ["Connection: close, transfer-encoding", "Transfer-Encoding: chunked"],
      `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
    ],
  ])("stays one request with %s", async (_, headers, body) => {
    await using server = await startRawServer((socket, text) => {
      if (/smuggled/.test(text)) socket.end(hello);
    });
    await using proxy = await startTestProxy();
    await proxy.send([`GET http://${server.host}/a HTTP/1.1`, "Host: x", ...headers, "", body].join("\r\n"));
    const [head = "", ...rest] = (server.received[0] ?? "").split("\r\n\r\n");
    expect(rest.join("")).toContain("smuggled");
    // The server knows that these bytes are a body.
    expect(head).toMatch(/content-length: \d+|transfer-encoding: chunked/i);
    expect(head).not.toMatch(/content-length[\s\S]*transfer-encoding/i);
  });

  test.each([
    ["two lengths", ["Content-Length: 3", "Content-Length: 4"]],
    ["a length and chunks", ["Content-Length: 3", "Transfer-Encoding: chunked"]],
    ["a header that is folded", ["X: a", " b"]],
    ["a bare line feed", ["X: a\nTransfer-Encoding: chunked"]],
  ])("with %s is refused and never sent", async (_, headers) => {
    await using server = await startRawServer((socket) => socket.end(hello));
    await using proxy = await startTestProxy();
    const answer = await proxy.send(
      [`POST http://${server.host}/ HTTP/1.1`, "Host: x", ...headers, "", "abc"].join("\r\n"),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(server.received).toEqual([]);
  });

  test.each([
    "GET / HTTP/1.1",
    "GET https://example.com/ HTTP/1.1",
    "GET ftp://example.com/ HTTP/1.1",
    "GET http:// HTTP/1.1",
    "CONNECT example.com HTTP/1.1",
    "CONNECT example.com:0 HTTP/1.1",
    "CONNECT example.com:99999 HTTP/1.1",
    "CONNECT a@b:80 HTTP/1.1",
    "CONNECT [::1]x:80 HTTP/1.1",
  ])("of the form %s is refused", async (line) => {
    await using proxy = await startTestProxy();
    expect(await proxy.send(`${line}\r\nHost: x\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each([
    [
      "HEAD",
      "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n",
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*Content-Length: 1234\r\n[\s\S]*\r\n\r\n$/,
    ],
    ["GET", "HTTP/1.1 204 No Content\r\n\r\n", /^HTTP\/1\.1 204 No Content\r\n[\s\S]*\r\n\r\n$/],
    [
      "GET",
      "HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
      /^HTTP\/1\.1 304 Not Modified\r\n[\s\S]*ETag: x\r\n[\s\S]*\r\n\r\n$/,
    ],
    [
      "GET",
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nhi$/,
    ],
    ["GET", "HTTP/1.0 200 OK\r\n\r\nto the end", /^HTTP\/1\.1 200 OK\r\n[\s\S]*to the end/],
    [
      "GET",
      "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n",
      /Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n/,
    ],
    [
      "GET",
      "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
      /^HTTP\/1\.1 502 /,
    ],
    ["GET", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", /^HTTP\/1\.1 502 /],
    ["GET", "not HTTP at all\r\n\r\n", /^HTTP\/1\.1 502 /],
    ["GET", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", /^HTTP\/1\.1 502 /],
    ["GET", "", /^HTTP\/1\.1 502 /],
  ])("%s that is answered %j", async (method, reply, expected) => {
    await using server = await startRawServer((socket) => socket.end(reply));
    await using proxy = await startTestProxy();
    expect(
      await proxy.send(`${method} http://${server.host}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
    ).toMatch(expected);
  });

  test("that waits for 100 Continue gets it, and its body goes on", async () => {
    await using server = await startRawServer((socket, text) => {
      if (text.includes("body!")) socket.end(hello);
    });
    await using proxy = await startTestProxy();
    const client = await proxy.open();
    const answer = allOf(client);
    client.write(
      `POST http://${server.host}/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\n`,
    );
    client.once("data", () => client.write("body!"));
    expect(await answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
    expect(server.received[0]).not.toMatch(/expect/i);
  });

  test("whose answer breaks off is cut off as well, and others are served on", async () => {
    let connection = 0;
    await using server = await startRawServer((socket) => {
      connection += 1;
      if (connection > 1) return void socket.end(hello);
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this", () => socket.destroy());
    });
    await using proxy = await startTestProxy();
    const ask = `GET http://${server.host}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    expect(await proxy.send(ask)).toMatch(/only this$/);
    expect(await proxy.send(ask)).toMatch(/hello$/);
  });

  test("shows the head of an answer before its body begins", async () => {
    await using server = await startRawServer((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
    );
    await using proxy = await startTestProxy();
    const client = await proxy.open();
    client.write(`GET http://${server.host}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [head] = (await once(client, "data")) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 200 OK/);
    client.destroy();
  });

  test("is answered early while its body is still on the way", async () => {
    await using server = await startRawServer((socket) =>
      socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\n\r\nmuch"),
    );
    await using proxy = await startTestProxy();
    const client = await proxy.open();
    client.on("error", () => undefined);
    client.write(
      `POST http://${server.host}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n${"x".repeat(100_000)}`,
    );
    const [head] = (await once(client, "data")) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 413 Too Large[\s\S]*much$/);
    client.destroy();
  });
});

describe("connections to servers", () => {
  test("are kept, and a request that is lost on a kept one is sent again on a new one", async () => {
    await using server = await startRawServer((socket, text, connection) => {
      if (connection === 0 && text.includes("/second")) socket.destroy();
      else socket.write(hello);
    });
    await using proxy = await startTestProxy();
    const ask = (path: string): Promise<string> =>
      proxy.send(`GET http://${server.host}${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await ask("/first")).toMatch(/hello$/);
    expect(await ask("/second")).toMatch(/hello$/);
    expect(server.received.map((text) => count(text, "GET "))).toEqual([2, 1]);
  });

  test("that are kept take no request that can't be sent again", async () => {
    await using server = await startRawServer((socket) => socket.write(hello));
    await using proxy = await startTestProxy();
    const ask = (head: string): Promise<string> => proxy.send(`${head}\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await ask(`GET http://${server.host}/ HTTP/1.1`);
    await ask(`POST http://${server.host}/ HTTP/1.1\r\nContent-Length: 0`);
    await ask(`DELETE http://${server.host}/ HTTP/1.1`);
    expect(server.received).toHaveLength(3);
  });

  test("are closed when the browser hangs up in the middle of an answer", async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await startRawServer((socket) => {
      socket.once("end", () => closed.resolve()).once("error", () => closed.resolve());
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
    });
    await using proxy = await startTestProxy();
    const client = await proxy.open();
    client.write(`GET http://${server.host}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(client, "data");
    client.destroy();
    await closed.promise;
  });
});

test("a browser that hangs up while a name is being resolved does no harm", async () => {
  const asked: PromiseWithResolvers<string[]>[] = [];
  await using server = await startRawServer((socket) => socket.end(hello));
  await using proxy = await startTestProxy({}, () => {
    const answer = Promise.withResolvers<string[]>();
    asked.push(answer);
    return answer.promise;
  });
  for (const text of [
    `CONNECT a.example:${server.port} HTTP/1.1\r\n\r\n`,
    `GET http://a.example:${server.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`,
  ]) {
    const client = await proxy.open();
    client.write(text);
    await eventually("it is asked for", () => asked.length > 0);
    client.destroy();
    for (const answer of asked.splice(0)) answer.resolve([server.host.split(":")[0] ?? ""]);
  }
  for (const failing of [true, false]) {
    const client = await proxy.open();
    client.write(`CONNECT a.example:${server.port} HTTP/1.1\r\n\r\n`);
    await eventually("it is asked for", () => asked.length > 0);
    client.destroy();
    for (const answer of asked.splice(0)) failing ? answer.reject(new Error("no")) : answer.resolve(["127.0.0.1"]);
  }
  expect(await proxy.send(`GET http://${server.host}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).toMatch(
    /hello$/,
  );
});

describe("a tunnel", () => {
  test("passes each side's end on and keeps the other direction open", async () => {
    await using server = await startRawServer((socket, text) => {
      if (text.includes("ping")) socket.write("pong");
      socket.once("end", () => socket.end("last words"));
    });
    await using proxy = await startTestProxy();
    const client = await proxy.open();
    client.write(`CONNECT ${server.host} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [head] = (await once(client, "data")) as [Buffer];
    expect(head.toString()).toBe("HTTP/1.1 200 OK\r\n\r\n");
    client.write("ping");
    const [pong] = (await once(client, "data")) as [Buffer];
    expect(`${pong}`).toBe("pong");
    const rest = allOf(client);
    client.end();
    expect(await rest).toBe("last words");
  });

  test("carries bytes that come with its request", async () => {
    await using server = await startRawServer((socket, text) => socket.end(`got ${text}`));
    await using proxy = await startTestProxy();
    expect(await proxy.send(`CONNECT ${server.host} HTTP/1.1\r\nHost: x\r\n\r\nearly`)).toMatch(/\r\n\r\ngot early$/);
  });

  test("is cut when the proxy ends, which removes its socket", async () => {
    await using server = await startRawServer((socket) => socket.write("x"));
    await using proxy = await startTestProxy();
    const client = await proxy.open();
    client.on("error", () => undefined);
    client.write(`CONNECT ${server.host} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(client, "data");
    const closed = once(client.resume(), "close");
    await proxy.proxy[Symbol.asyncDispose]();
    await closed;
    expect(existsSync(proxy.path)).toBe(false);
  });

  test("is not made while 512 others are being made, and then again", async () => {
    const waiting: PromiseWithResolvers<string[]>[] = [];
    await using proxy = await startTestProxy({}, () => {
      const answer = Promise.withResolvers<string[]>();
      waiting.push(answer);
      return answer.promise;
    });
    const clients = await Promise.all(
      Array.from({ length: 512 }, async () => {
        const client = await proxy.open();
        client.on("error", () => undefined);
        client.write("CONNECT a.example:1 HTTP/1.1\r\nHost: x\r\n\r\n");
        return client;
      }),
    );
    await eventually("all wait", () => waiting.length === 512);
    expect(await proxy.send("CONNECT b.example:1 HTTP/1.1\r\nHost: x\r\n\r\n")).toMatch(/^HTTP\/1\.1 502 /);
    expect(waiting).toHaveLength(512);
    for (const answer of waiting.splice(0)) answer.resolve(["127.0.0.1"]);
    await Promise.all(clients.map((client) => once(client.resume(), "close")));
    const after = proxy.send("CONNECT b.example:1 HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually("it is asked for", () => waiting.length === 1);
    waiting[0]?.resolve(["127.0.0.1"]);
    expect(await after).toMatch(/^HTTP\/1\.1 403 /);
  });
});
