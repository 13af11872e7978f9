/**
 * Web pages of other origins: what a browser lets them do with the API. The browser is a real Chromium, the calls real
 * HTTP.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { type Browser, launch } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { collect, emptyPool } from "../support/filled-pool.ts";
import { rawRequest } from "../support/raw-http.ts";
import { expectRefusal, forbidden, sendRaw, storedState } from "../support/refused-request.ts";
import { callingOrigin } from "../support/shared-settings.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

const sdk = dirname(createRequire(import.meta.url).resolve("@onkernel/sdk"));

/** A website with an empty page and the SDK's own modules. */
const startSite = async (): Promise<Server> => {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://site").pathname;
    const script = path.endsWith(".mjs") ? await readFile(join(sdk, path), "utf8").catch(() => undefined) : "";
    response.setHeader("content-type", script ? "text/javascript" : "text/html");
    response.end(script || "<!doctype html><title>console</title>");
  }).listen(0);
  await once(server, "listening");
  return server;
};

let site: Server;
let stack: LocalProject;
let browser: Browser;
/** The same site under two names; one is allowed. */
const allowed = callingOrigin;
const other = "http://other.localhost";
beforeAll(async () => {
  site = await startSite();
  const { port } = site.address() as AddressInfo;
  stack = await startProject();
  const executablePath = locatePrograms()["chromium-headless-shell"];
  if (!executablePath) throw new Error("chromium-headless-shell is missing; run `npm run setup`");
  const names = `--host-resolver-rules=MAP *.localhost:80 127.0.0.1:${port}`;
  browser = await launch({ executablePath, headless: "shell", args: ["--no-sandbox", "--disable-gpu", names] });
});
afterAll(async () => {
  await browser?.close();
  await stack?.[Symbol.asyncDispose]();
  site?.close();
});

const preflight = (origin: string, method = "PATCH") =>
  rawRequest(stack.url, {
    method: "OPTIONS",
    path: "/browser_pools/x",
    headers: {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": "authorization,content-type,x-stainless-lang",
    },
  });

const corsHeaders = (headers: object): string[] =>
  Object.keys(headers).filter((name) => name.startsWith("access-control-"));

// AUTH-16
describe("over HTTP", () => {
  test("a preflight of an allowed origin is answered without a key", async () => {
    const { status, headers, text } = await preflight(allowed);
    expect({ status, text }).toEqual({ status: 204, text: "" });
    expect(headers).toMatchObject({
      "access-control-allow-origin": allowed,
      "access-control-allow-headers": "Authorization, *",
      "access-control-max-age": "7200",
      vary: "Origin",
    });
    expect(String(headers["access-control-allow-methods"]).split(", ").sort()).toEqual([
      ...["DELETE", "GET", "PATCH", "POST", "PUT"],
    ]);
    expect(headers).not.toHaveProperty("access-control-allow-credentials");
  });

  test("an answer may be read by the very origin that asked, also when it is an error", async () => {
    const answers = await Promise.all([
      sendRaw(stack, "GET", "/browser_pools", { headers: { origin: allowed } }),
      sendRaw(stack, "GET", "/browser_pools", { headers: { origin: allowed, authorization: "Bearer wrong" } }),
      sendRaw(stack, "GET", "/nothing", { headers: { origin: allowed } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404]);
    for (const { headers } of answers) {
      expect(headers).toMatchObject({ "access-control-allow-origin": allowed, vary: "Origin" });
      expect(headers["access-control-expose-headers"]).toContain(
        "X-Has-More, X-Ignored-Fields, X-Next-Cursor, X-Next-Offset, X-Next-Page-Token, X-Request-Id",
      );
      expect(headers).not.toHaveProperty("access-control-allow-credentials");
    }
  });

  // AUTH-9
  test.each(["https://evil.test", "null", "https://console.example.evil.test", "https://CONSOLE.example"])(
    "another origin is refused, with no word that lets it in: %s",
    async (origin) => {
      for (const answer of [
        await preflight(origin),
        await sendRaw(stack, "GET", "/browser_pools", { headers: { origin } }),
      ]) {
        expectRefusal(answer, forbidden);
        expect(corsHeaders(answer.headers)).toEqual([]);
      }
    },
  );

  test("an allowed origin does not make an unknown Host served", async () => {
    const headers = { host: "evil.test", origin: allowed, "access-control-request-method": "GET" };
    const answer = await rawRequest(stack.url, { method: "OPTIONS", path: "/browser_pools", headers });
    expectRefusal(answer, forbidden);
    expect(corsHeaders(answer.headers)).toEqual([]);
  });

  test("OPTIONS that is no preflight is a method that no path has", async () => {
    const answer = await sendRaw(stack, "OPTIONS", "/browser_pools", { headers: { origin: allowed } });
    expect(answer.status).toBe(405);
  });

  test("callers without an Origin get no such header, but caches learn that answers differ", async () => {
    const { headers } = await sendRaw(stack, "GET", "/browser_pools");
    expect(corsHeaders(headers)).toEqual([]);
    expect(headers.vary).toBe("Origin");
  });
});

/** Runs code with the SDK's client `kernel` in a page of `origin`. Returns what it returned, or the error as text. */
const inPage = async (origin: string, code: string): Promise<unknown> => {
  const page = await browser.newPage();
  try {
    await page.goto(origin);
    const options = JSON.stringify({ baseURL: stack.url, apiKey: stack.api_key, maxRetries: 0 });
    // As text: vitest would replace the import in a function.
    return await page.evaluate(`(async () => {
      const { default: Kernel } = await import("/index.mjs");
      const kernel = new Kernel(${options});
      return (async () => { ${code} })().catch((error) => error.constructor.name + ": " + error.message);
    })()`);
  } finally {
    await page.close();
  }
};

// AUTH-16
describe("in Chromium", () => {
  test("a page of an allowed origin uses the API with the public SDK", async () => {
    const names = ["console-1", "console-2", "console-3"];
    const create = `for (const name of ${JSON.stringify(names)})
      await kernel.browserPools.create({ name, size: 1, fill_rate_per_minute: 0 });
      return "made"`;
    expect(await inPage(allowed, create)).toBe("made");
    // The SDK goes on to the next page by a header of the answer.
    const list = `const names = [];
      for await (const { name } of kernel.browserPools.list({ limit: 2 })) names.push(name);
      return names.sort()`;
    expect(await inPage(allowed, list)).toEqual(names);
    const change = `await kernel.browserPools.update("console-1", { size: 2 });
      await kernel.browserPools.delete("console-2");
      return (await kernel.browserPools.retrieve("console-1")).browser_pool_config.size`;
    expect(await inPage(allowed, change)).toBe(2);
    expect(await inPage(allowed, `return kernel.browserPools.retrieve("unknown")`)).toMatch(/^NotFoundError: 404/);
    for await (const { id } of stack.kernel.browserPools.list()) await stack.kernel.browserPools.delete(id);
  });

  // AUTH-9
  test("a page of another origin reads and changes nothing, although it has the key", async () => {
    const { id } = await emptyPool(stack.kernel, { size: 1 });
    const before = await storedState(stack);
    expect(await inPage(other, "return (await kernel.browserPools.list()).items.length")).toMatch(/Connection error/);
    expect(await inPage(other, `return kernel.browserPools.delete("${id}")`)).toMatch(/Connection error/);
    // A request that needs no preflight reaches the API, which refuses it.
    const simple = `const body = JSON.stringify({ size: 1, name: "simple" });
      const answer = await fetch("${stack.url}/browser_pools", { method: "POST", mode: "no-cors", body });
      return answer.type`;
    expect(await inPage(other, simple)).toBe("opaque");
    expect(await storedState(stack)).toEqual(before);
    expect(await collect(stack.kernel.browserPools.list({ name: "simple" }))).toEqual([]);
  });
});
