/** Signing in to the console, and what its cookie is good for, over the real service. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { consoleHeader } from "../../../src/core/http/console-session.ts";
import { eventually } from "../../support/eventually.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { asConsole, cookieIn, signedIn } from "./console-caller.ts";

let stack: LocalProject;
beforeAll(async () => {
  stack = await startProject();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

type Made = { id: string; key: string };

/** A new key of the test's project that may do this. */
const newKey = async (permissions: string[] | null): Promise<Made> => {
  const answer = await fetch(`${stack.url}/org/api_keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.organization_key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "console", project_id: stack.project, permissions }),
  });
  return (await answer.json()) as Made;
};

const changeKey = (id: string, method: string, body?: object): Promise<Response> =>
  fetch(`${stack.url}/org/api_keys/${id}`, {
    method,
    headers: { authorization: `Bearer ${stack.organization_key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });

const statusOf = async (answer: Promise<Response>): Promise<number> => (await answer).status;

describe("signing in", () => {
  test("by a key gives a cookie that no script reads and no other site sends", async () => {
    const answer = await asConsole(stack.url, "/console/session", { method: "POST", body: { api_key: stack.api_key } });
    expect(answer.status).toBe(200);
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toMatch(
      /^browserpool_console=[\w-]+; Max-Age=43200; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain(stack.api_key);
    const told = (await answer.json()) as { permissions: string[] };
    expect(told).toMatchObject({ scope: "project", project: { id: stack.project } });
    expect(told.permissions).toContain("pools:write");
    expect(told.permissions).not.toContain("organization");
    expect(JSON.stringify(told)).not.toContain(stack.api_key);
  });

  test("by a key that is not known, and by a code that was never made, is refused", async () => {
    for (const body of [{ api_key: "bp_unknown" }, { code: `abc.${"x".repeat(43)}` }, { code: "no code" }])
      expect(
        await statusOf(asConsole(stack.url, "/console/session", { method: "POST", body })),
        JSON.stringify(body),
      ).toBe(401);
    for (const body of [{}, { api_key: "" }, { api_key: "a", code: "b" }, [], { api_key: "x".repeat(300) }])
      expect(
        await statusOf(asConsole(stack.url, "/console/session", { method: "POST", body })),
        JSON.stringify(body),
      ).toBe(400);
  });

  test("by a code works once, and only by the last code of a key", async () => {
    const { key } = await newKey(null);
    const make = async (): Promise<string> => {
      const answer = await eventually("the key is known", async () => {
        const made = await fetch(`${stack.url}/console/codes`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}` },
        });
        return made.ok && made;
      });
      expect(answer.headers.get("cache-control")).toBe("no-store");
      return ((await answer.json()) as { code: string }).code;
    };
    const [old, code] = [await make(), await make()];
    const use = (given: string) => asConsole(stack.url, "/console/session", { method: "POST", body: { code: given } });
    expect(await statusOf(use(old))).toBe(401);
    const first = await use(code);
    expect(first.status).toBe(200);
    expect(await statusOf(asConsole(stack.url, "/browser_pools", { cookie: cookieIn(first) }))).toBe(200);
    expect(await statusOf(use(code))).toBe(401);
  });

  test("codes are made for API keys alone", async () => {
    expect(await statusOf(fetch(`${stack.url}/console/codes`, { method: "POST" }))).toBe(401);
  });
});

describe("the cookie", () => {
  test("stands for its key in the API, until it is given back", async () => {
    const cookie = await signedIn(stack.url, stack.api_key);
    expect(await statusOf(asConsole(stack.url, "/browser_pools", { cookie }))).toBe(200);
    expect(await statusOf(asConsole(stack.url, "/console/session", { cookie }))).toBe(200);
    expect(await statusOf(asConsole(stack.url, "/org/api_keys", { cookie })), "rights of the key alone").toBe(403);
    const out = await asConsole(stack.url, "/console/session", { method: "DELETE", cookie });
    expect(out.status).toBe(204);
    expect(out.headers.getSetCookie()[0]).toMatch(/^browserpool_console=;.*Expires=Thu, 01 Jan 1970/);
  });

  test("counts for nothing in requests that another page could send", async () => {
    const cookie = await signedIn(stack.url, stack.api_key);
    const others: Record<string, Record<string, string>> = {
      "without the header": { [consoleHeader]: "" },
      "from another site": { "sec-fetch-site": "cross-site" },
      "from another host of the site": { "sec-fetch-site": "same-site" },
      "from another origin": { origin: "https://evil.example" },
      "from a sandboxed frame": { origin: "null" },
      "beside a bad key": { authorization: "Bearer bp_unknown" },
    };
    for (const [what, headers] of Object.entries(others)) {
      const sent = { cookie, [consoleHeader]: "1", ...headers };
      if (sent[consoleHeader] === "") delete (sent as Record<string, string>)[consoleHeader];
      const answer = await fetch(`${stack.url}/browser_pools`, { headers: sent });
      expect([401, 403], what).toContain(answer.status);
      const changed = await fetch(`${stack.url}/console/session`, { method: "DELETE", headers: sent });
      if (what !== "beside a bad key") expect([401, 403], `${what}: signing out`).toContain(changed.status);
    }
  });

  test("no page of another origin gets leave to send the header with cookies", async () => {
    const preflight = await fetch(`${stack.url}/browser_pools`, {
      method: "OPTIONS",
      headers: {
        origin: "https://evil.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": consoleHeader,
      },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
  });

  test("that somebody has changed, or made up, opens nothing", async () => {
    const cookie = await signedIn(stack.url, stack.api_key);
    const at = cookie.length - 9;
    const changed = cookie.slice(0, at) + (cookie[at] === "A" ? "B" : "A") + cookie.slice(at + 1);
    for (const bad of [changed, "browserpool_console=", "browserpool_console=e30", cookie.slice(0, -8)])
      expect(await statusOf(asConsole(stack.url, "/browser_pools", { cookie: bad })), bad).toBe(401);
  });

  test("ends with its key", async () => {
    const { id, key } = await newKey(null);
    const cookie = await eventually("the key is known", () => signedIn(stack.url, key).catch(() => undefined));
    expect(await statusOf(asConsole(stack.url, "/browser_pools", { cookie }))).toBe(200);
    expect((await changeKey(id, "DELETE")).status).toBe(204);
    await eventually(
      "the session has ended",
      async () => (await asConsole(stack.url, "/browser_pools", { cookie })).status === 401,
    );
  });

  test("ends when its key gets other rights", async () => {
    const { id, key } = await newKey(null);
    const cookie = await eventually("the key is known", () => signedIn(stack.url, key).catch(() => undefined));
    expect((await changeKey(id, "PATCH", { permissions: ["pools:read"] })).status).toBe(200);
    const answer = await eventually("the session has ended", async () => {
      const asked = await asConsole(stack.url, "/browser_pools", { cookie });
      return asked.status === 401 && asked;
    });
    expect(((await answer.json()) as { message: string }).message).toBe("the session has ended; sign in again");
    expect(await signedIn(stack.url, key), "its new rights count after a new sign-in").toMatch(/^browserpool_console=/);
  });

  test("gets the same answer to a repeated request, and another person does not", async () => {
    const [own, other] = [await signedIn(stack.url, stack.api_key), await signedIn(stack.url, stack.api_key)];
    const make = async (cookie: string): Promise<string> => {
      const answer = await asConsole(stack.url, "/vaults", {
        ...{ method: "POST", body: { name: "twice" }, cookie },
        headers: { "idempotency-key": "console-twice" },
      });
      return answer.headers.get("x-request-id") ?? "";
    };
    expect(await make(own)).not.toBe("");
    expect((await asConsole(stack.url, "/vaults", { cookie: other })).status).toBe(200);
  });
});

describe("what is at the door", () => {
  test("a person who opens / comes to the console; a program is told what this is", async () => {
    const person = await fetch(stack.url, { headers: { accept: "text/html,*/*;q=0.8" }, redirect: "manual" });
    expect([person.status, person.headers.get("location")]).toEqual([302, "/console"]);
    const program = await fetch(stack.url);
    expect(program.headers.get("vary")).toContain("Accept");
    expect(await program.json()).toEqual({
      name: "browserpool",
      version: expect.stringMatching(/^\d/),
      links: { openapi: "/openapi.json", docs: "/docs", console: "/console" },
    });
  });

  test("pages may load what is ours alone, may be framed by nobody, and are kept by no cache", async () => {
    for (const path of ["/console", "/console/pools", "/console/sessions/abc"]) {
      const answer = await fetch(stack.url + path);
      expect(answer.status, path).toBe(200);
      const policy = answer.headers.get("content-security-policy") ?? "";
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ])
        expect(policy, path).toContain(part);
      expect(answer.headers.get("x-frame-options")).toBe("DENY");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(await answer.text()).not.toMatch(/<script(?! type="module" src="\/console\/files\/)| style=| on\w+=/);
    }
  });

  test("their files are compressed, and named by what is in them", async () => {
    const html = await (await fetch(`${stack.url}/console`)).text();
    const files = [...html.matchAll(/\/console\/files\/[\w.-]+/g)].map(([path]) => path);
    expect(files.length).toBeGreaterThanOrEqual(3);
    let bytes = 0;
    for (const path of files) {
      const answer = await fetch(stack.url + path, { headers: { "accept-encoding": "br" } });
      expect(answer.headers.get("content-encoding"), path).toBe("br");
      expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      bytes += Number(answer.headers.get("content-length"));
    }
    expect(bytes, "compressed, for the first view").toBeLessThan(150 * 1024);
    expect((await fetch(`${stack.url}/console/files/none.js`)).status).toBe(404);
    expect((await fetch(`${stack.url}/console/files/..%2fmount-console.ts`)).status).toBe(404);
  });
});
