/** Requests that a holder sends by its browser, at a site on this machine. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sessionHeader } from "../../../../src/core/protocol/agent-api.ts";
import { createAgentTokens } from "../../../../src/core/protocol/agent-token.ts";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";

type Seen = { url: string; method: string; headers: IncomingMessage["headers"]; body: string };
type Answered = { status: number; body: { answer?: Curled; code?: string; message?: string } };
type Curled = { status: number; headers: Record<string, string[]>; body: string; duration_ms: number };

const most = 8 * 1024 * 1024;
const seen: Seen[] = [];
const server = createServer(async (request, response) => {
  const { url = "", method = "", headers } = request;
  seen.push({ url, method, headers, body: (await buffer(request)).toString() });
  if (url === "/cookie") response.setHeader("set-cookie", ["login=ann; SameSite=Strict", "other=1"]).end("set");
  else if (url === "/bytes") response.end(Buffer.from([0, 255, 128]));
  else if (url === "/most") response.end(Buffer.alloc(most));
  else if (url === "/more") response.end(Buffer.alloc(most + 1));
  else if (url === "/slow") await sleep(20_000, undefined, { ref: false });
  else if (url === "/away") response.writeHead(302, { location: `http://localhost:${port()}/there` }).end();
  else if (url === "/loop") response.writeHead(302, { location: "/loop" }).end();
  else response.writeHead(url === "/missing" ? 404 : 200, { "x-two": ["a", "b"] }).end(`answer to ${method}`);
});
const port = (): number => (server.address() as AddressInfo).port;
const site = (path: string): string => `http://127.0.0.1:${port()}${path}`;
const lastOf = (url: string): Seen | undefined => seen.findLast((one) => one.url === url);

beforeAll(() => new Promise<void>((resolve) => server.listen(0, resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe.each([{ headless: true }, { headless: false }])("headless: $headless", ({ headless }) => {
  const agents = createTestAgents();
  let agent: TestAgent;
  let browser: Browser;
  beforeAll(async () => {
    agent = await agents.start({ headless });
    await agent.bind("s", 1);
    browser = await agent.connect("s");
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const curl = async (url: string, more: object = {}): Promise<Answered> => {
    const token = createAgentTokens(agent.privateKey).tokenFor(agent.podUid);
    const headers = { authorization: `Bearer ${token}`, [sessionHeader]: "s", "content-type": "application/json" };
    const body = JSON.stringify({ url, ...more });
    const response = await fetch(`${agent.baseUrl}/calls/curl`, { method: "POST", headers, body });
    return { status: response.status, body: (await response.json()) as Answered["body"] };
  };
  const answerOf = async (url: string, more?: object): Promise<Curled | undefined> =>
    (await curl(url, more)).body.answer;

  // CURL-1
  test("has the browser's cookies and headers, and the browser gets those of the answer", async () => {
    const page = await browser.newPage();
    await page.goto(site("/cookie"));
    expect(await answerOf(site("/api"))).toMatchObject({
      status: 200,
      body: "answer to GET",
      headers: { "x-two": ["a", "b"] },
      duration_ms: expect.any(Number),
    });
    expect(lastOf("/api")?.headers).toMatchObject({
      cookie: "login=ann; other=1",
      "user-agent": await page.evaluate("navigator.userAgent"),
      "sec-fetch-site": "same-origin",
    });
    expect(await answerOf(site("/missing"))).toMatchObject({ status: 404 });
    await page.evaluate("document.cookie = 'login=; max-age=0'; document.cookie = 'other=; max-age=0'");
    expect(await answerOf(site("/cookie"))).toMatchObject({
      headers: { "set-cookie": ["login=ann; SameSite=Strict", "other=1"] },
    });
    await page.goto(site("/again"));
    expect(lastOf("/again")?.headers.cookie).toBe("login=ann; other=1");
    await page.close();
  });

  // CURL-2
  test.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("sends %s", async (method) => {
    const body = ["GET", "HEAD"].includes(method) ? undefined : "käse";
    const headers = { "X-Own": "1", "User-Agent": "of the holder", Referer: "https://elsewhere.example/" };
    const answer = await answerOf(site(`/${method}`), { method, headers, ...(body && { body }) });
    expect(answer).toMatchObject({ status: 200, body: method === "HEAD" ? "" : `answer to ${method}` });
    expect(lastOf(`/${method}`)).toMatchObject({ method, body: body ?? "" });
    expect(lastOf(`/${method}`)?.headers).toMatchObject({
      "x-own": "1",
      "user-agent": "of the holder",
      referer: "https://elsewhere.example/",
    });
    expect(
      await curl(site("/x"), { method, ...(!body && { body: "none" }), ...(body && { method: "TRACE" }) }),
    ).toMatchObject({
      status: 400,
    });
  });

  // CURL-2
  test("answers bytes as base64, follows redirects to another site, and says what failed", async () => {
    expect(await answerOf(site("/bytes"), { response_encoding: "base64" })).toMatchObject({ body: "AP+A" });
    expect(await answerOf(site("/away"))).toMatchObject({ status: 200, body: "answer to GET" });
    expect(lastOf("/there")?.headers.host).toMatch(/^localhost/);
    const refused = (message: unknown) => ({ status: 409, body: { code: "conflict", message } });
    expect(await curl("http://127.0.0.1:9/")).toMatchObject(refused(expect.stringMatching(/could not get it: /)));
    expect(await curl(site("/loop"))).toMatchObject(refused("more than 20 redirects"));
    expect(await curl(site("/slow"), { timeout_ms: 500 })).toMatchObject(refused("no answer within 500 ms"));
    for (const url of ["file:///etc/passwd", "chrome://version", "data:text/plain,x", "nothing"])
      expect((await curl(url)).status).toBe(400);
    for (const headers of [{ "a b": "1" }, { a: "1\r\nb: 2" }])
      expect((await curl(site("/x"), { headers })).status).toBe(400);
  });

  // CURL-3
  test("a response has 8 MiB at most, eight requests run at once, and no tab is left", async () => {
    expect((await answerOf(site("/most"), { response_encoding: "base64" }))?.body).toHaveLength(
      Math.ceil(most / 3) * 4,
    );
    expect(await curl(site("/more"))).toMatchObject({ status: 413, body: { code: "payload_too_large" } });
    const many = await Promise.all(Array.from({ length: 9 }, () => curl(site("/slow"), { timeout_ms: 1500 })));
    expect(many.map(({ status }) => status).sort()).toEqual([...Array(8).fill(409), 429]);
    await expect.poll(async () => (await browser.pages()).length).toBe(1);
  });
});
