/** The hosted login in a real browser, with and without scripts, and everything that it must refuse. */
import type Kernel from "@onkernel/sdk";
import { type Browser, launch, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { axeFindings } from "../../support/axe-findings.ts";
import { rawRequest } from "../../support/raw-http.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";

let stack: LocalProject;
let kernel: Kernel;
let browser: Browser;

beforeAll(async () => {
  const executablePath = locatePrograms(process.env)["chromium-headless-shell"];
  if (!executablePath) throw new Error("chromium-headless-shell is missing; run `npm run setup`");
  stack = await startProject();
  kernel = stack.kernel;
  browser = await launch({ executablePath, headless: "shell", args: ["--no-sandbox", "--disable-gpu"] });
});
afterAll(async () => {
  await browser?.close();
  await stack?.[Symbol.asyncDispose]();
});

const connect = (fields: object = {}) =>
  kernel.auth.connections.create({ domain: "shop.example", profile_name: `p-${newId()}`, ...fields });
/** A page in its own browser context. */
const newPage = async ({ scripts = true } = {}): Promise<Page> => {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setJavaScriptEnabled(scripts);
  return page;
};
const textOf = (page: Page): Promise<string> => page.$eval("main", (main) => main.textContent ?? "");
const press = async (page: Page, selector = "button"): Promise<void> => {
  await Promise.all([page.waitForNavigation(), page.click(selector)]);
};
const typed = async (page: Page, values: Record<string, string>): Promise<void> => {
  for (const [name, value] of Object.entries(values)) await page.type(`input[name="value:${name}"]`, value);
};
const opened = async (hostedUrl: string): Promise<Page> => {
  const page = await newPage();
  await page.goto(hostedUrl);
  await page.waitForSelector('input[name="csrf"]');
  return page;
};

describe("a person", () => {
  // CONNECTION-11, CONNECTION-13
  test("types a login for a new connection, which then backs an item", async () => {
    const connection = await connect();
    const login = await kernel.auth.connections.login(connection.id);
    const page = await opened(login.hosted_url);
    expect(await textOf(page)).toContain("Log in to shop.example");
    const { name: project } = await kernel.projects.retrieve(stack.project);
    expect(await page.$eval("bdi", (name) => name.textContent)).toBe(project);
    // The code is no longer in the address, and no longer valid.
    expect(page.url()).not.toContain(login.handoff_code);
    await typed(page, { username: "ann", password: 'p"<&>Ω' });
    await press(page, "button.primary");
    expect(await textOf(page)).toContain("The login is saved");
    const after = await kernel.auth.connections.retrieve(connection.id);
    expect(after).toMatchObject({ status: "AUTHENTICATED", credential: { name: expect.any(String) } });
    const credential = await kernel.credentials.retrieve(after.credential?.name ?? "");
    expect(credential).toMatchObject({ domain: "shop.example", value_keys: ["password", "username"] });
    await page.browserContext().close();
  });

  test("sees what is typed when asked for, hands in a password, and finds nothing in the way of assistive programs", async () => {
    const { hosted_url } = await kernel.auth.connections.login((await connect()).id);
    const page = await opened(hosted_url);
    expect(await axeFindings(page)).toEqual([]);
    const password = 'input[name="value:password"]';
    const type = (): Promise<string> => page.$eval(password, (input) => (input as unknown as { type: string }).type);
    expect(await page.$eval(password, (input) => input.getAttribute("autocomplete"))).toBe("current-password");
    await typed(page, { username: "ann", password: "seen" });
    expect(await type()).toBe("password");
    await page.click('button[type="button"]');
    expect(await type()).toBe("text");
    expect(await axeFindings(page)).toEqual([]);
    await page.evaluate(`document.forms[0].addEventListener("submit", (event) => {
      event.preventDefault();
      document.title = document.querySelector('${password}').type;
    })`);
    await page.click("button.primary");
    expect(await page.title()).toBe("password");
    await page.browserContext().close();
  });

  test("can log in without scripts, with the code from the address", async () => {
    const connection = await connect();
    const { hosted_url, handoff_code } = await kernel.auth.connections.login(connection.id);
    const page = await newPage({ scripts: false });
    await page.goto(hosted_url);
    await page.type('input[name="code"]', handoff_code ?? "");
    await press(page);
    await typed(page, { username: "ann", password: "pw" });
    await press(page, "button.primary");
    expect(await textOf(page)).toContain("The login is saved");
    expect(await kernel.auth.connections.retrieve(connection.id)).toMatchObject({ status: "AUTHENTICATED" });
    await page.browserContext().close();
  });

  test("is asked for the fields that are already stored, and may add one", async () => {
    const name = `c-${newId()}`;
    await kernel.credentials.create({ name, domain: "shop.example", values: { customer: "1", "passwd & co": "old" } });
    const connection = await connect({ credential: { name } });
    const { hosted_url } = await kernel.auth.connections.login(connection.id);
    const page = await opened(hosted_url);
    await page.type('input[name="value:customer"]', "2");
    await page.type('input[type="password"]', "new");
    await page.click("summary");
    await page.type('input[name="extra_name"]', "branch");
    await page.type('input[name="extra_value"]', "north");
    await press(page, "button.primary");
    expect((await kernel.credentials.retrieve(name)).value_keys).toEqual(["branch", "customer", "passwd & co"]);
    await page.browserContext().close();
  });

  // CONNECTION-15
  test("completes the login also when nothing is saved", async () => {
    const connection = await connect({ save_credentials: false });
    const page = await opened((await kernel.auth.connections.login(connection.id)).hosted_url);
    await typed(page, { username: "ann", password: "pw" });
    await press(page, "button.primary");
    const after = await kernel.auth.connections.retrieve(connection.id);
    expect(after.status).toBe("AUTHENTICATED");
    expect(after.credential).toBeUndefined();
    await page.browserContext().close();
  });
});

describe("a code", () => {
  const exchange = (url: string, code: string, more: RequestInit = {}) =>
    fetch(url.replace(/#.*/, ""), {
      method: "POST",
      body: new URLSearchParams({ code }),
      redirect: "manual",
      ...more,
    });
  /** From an address of its own: so many attempts that failed would have those of other tests and files refused. */
  const exchangeElsewhere = (url: string, code: string) =>
    rawRequest(url, {
      method: "POST",
      path: new URL(url).pathname,
      localAddress: "127.0.0.2",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: `${new URLSearchParams({ code })}`,
    });
  const login = async () => {
    const connection = await connect();
    const { hosted_url, handoff_code = "" } = await kernel.auth.connections.login(connection.id);
    return { connection, url: hosted_url, code: handoff_code };
  };

  test("has 256 bits, is behind the # of the address, and is stored only as a hash", async () => {
    const { connection, url, code } = await login();
    expect(Buffer.from(code, "base64url")).toHaveLength(54);
    expect(new URL(url).hash).toBe(`#${code}`);
    const { items } = await stack.kube.list(secrets, { namespace: stack.namespace });
    const own = items.filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === connection.id));
    expect(own).toHaveLength(1);
    const texts = Object.values(own[0]?.data ?? {}).map((entry) => Buffer.from(entry, "base64").toString());
    expect(texts.join()).not.toContain(code);
    expect(texts.join()).not.toContain(Buffer.from(code, "base64url").toString("hex"));
  });

  // CONNECTION-17
  test("is valid once, also when many try it at the same time", async () => {
    const { url, code } = await login();
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(url, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 403, 403, 403, 403]);
    expect((await exchange(url, code)).status).toBe(403);
  });

  test("gives a cookie for this host alone, new each time, and never in an address", async () => {
    const { url, code } = await login();
    const response = await exchange(url, code);
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^__Host-browserpool_login=[\w-]{72};/);
    for (const attribute of ["HttpOnly", "Secure", "SameSite=Strict", "Path=/"]) expect(cookie).toContain(attribute);
    expect(cookie).not.toContain("Domain");
    expect(cookie).not.toContain(code);
    expect(response.headers.get("location")).toMatch(/\/form$/);
  });

  // CONNECTION-18
  test.each<[string, (url: string, code: string) => [string, string]]>([
    ["a wrong code", (url) => [url, "x".repeat(72)]],
    ["no code", (url) => [url, ""]],
    ["another connection", (url, code) => [url.replace(/\/[^/]+#/, "/nobody#"), code]],
    ["another project", (url, code) => [url.replace(/login\/[^/]+/, "login/nobody"), code]],
  ])("a visitor with %s learns nothing", async (_, change) => {
    const { url, code } = await login();
    const response = await exchange(...change(url, code));
    expect(response.status).toBe(403);
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(await response.text()).toContain("This link is not good any more");
    // The right code is still valid.
    expect((await exchange(url, code)).status).toBe(303);
  });

  test("of a newer login voids the older one, and an API key does not open the page", async () => {
    const { connection, url, code } = await login();
    await kernel.auth.connections.login(connection.id);
    expect((await exchange(url, code)).status).toBe(403);
    const headers = { authorization: `Bearer ${stack.api_key}` };
    expect((await fetch(`${url.replace(/#.*/, "")}/form`, { headers })).status).toBe(403);
  });

  test("is refused from a page of another site", async () => {
    const { url, code } = await login();
    const response = await exchange(url, code, { headers: { origin: "https://evil.example" } });
    expect(response.status).toBe(403);
    expect((await exchange(url, code)).status).toBe(303);
  });

  // LIMIT-19
  test("can't be guessed without limit, and many guesses from its person's address don't void it", async () => {
    const { url, code } = await login();
    const answers = await Promise.all(Array.from({ length: 200 }, () => exchangeElsewhere(url, "no")));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(50);
    expect(Number(refused[0]?.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused[0]?.text).toContain("Too many attempts");
    expect((await exchangeElsewhere(url, code)).status).toBe(303);
  });

  // LIMIT-19
  test("that was used is refused without end only until its own bound, which no other code has to share", async () => {
    const [used, other] = [await login(), await login()];
    const answers = await Promise.all(Array.from({ length: 50 }, () => exchangeElsewhere(used.url, used.code)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(19);
    expect((await exchangeElsewhere(other.url, other.code)).status).toBe(303);
  });
});

describe("the form", () => {
  const visit = async () => {
    const connection = await connect();
    const { hosted_url, handoff_code = "" } = await kernel.auth.connections.login(connection.id);
    const url = hosted_url.replace(/#.*/, "");
    const response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams({ code: handoff_code }),
      redirect: "manual",
    });
    const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
    const form = await fetch(`${url}/form`, { headers: { cookie } });
    const csrf = /name="csrf" value="([^"]+)"/.exec(await form.text())?.[1] ?? "";
    const send = (fields: Record<string, string>, headers: Record<string, string> = { cookie }) =>
      fetch(`${url}/form`, { method: "POST", headers, body: new URLSearchParams(fields), redirect: "manual" });
    return { connection, form, cookie, csrf, send };
  };
  const values = { "value:username": "ann", "value:password": "pw" };

  test("can't be framed, is not cached, and runs no script but its own", async () => {
    const { form } = await visit();
    const policy = form.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(form.headers.get("x-frame-options")).toBe("DENY");
    expect(form.headers.get("cache-control")).toBe("no-store");
  });

  test("is accepted once, with its cookie and its token", async () => {
    const { connection, csrf, send } = await visit();
    expect((await send({ ...values, csrf: "x" })).status).toBe(403);
    expect((await send({ ...values, csrf }, {})).status).toBe(403);
    expect((await kernel.auth.connections.retrieve(connection.id)).status).toBe("NEEDS_AUTH");
    const taken = await send({ ...values, csrf });
    expect([taken.status, taken.headers.get("location")]).toEqual([303, "done"]);
    expect(taken.headers.get("set-cookie")).toMatch(/__Host-browserpool_login=;.*Expires=Thu, 01 Jan 1970/);
    expect((await send({ ...values, csrf })).status).toBe(403);
  });

  test("comes back with a message and without the typed values when these can't be stored", async () => {
    const { csrf, send } = await visit();
    const answer = await send({ ...values, "value:password": "geheim".repeat(1000), csrf });
    const text = await answer.text();
    expect([answer.status, text.includes("geheim")]).toEqual([400, false]);
    expect(text).toContain("too long");
    expect((await send({ ...values, csrf })).status).toBe(303);
  });

  // CONNECTION-23
  test("says which project asks, and writes its name as text", async () => {
    const name = `</strong><script>alert(1)</script> ${newId()}`;
    const project = await kernel.projects.create({ name });
    const inProject = kernel.withOptions({ defaultHeaders: { "x-kernel-project-id": project.id } });
    const connection = await inProject.auth.connections.create({ domain: "shop.example", profile_name: "p" });
    const page = await opened((await inProject.auth.connections.login(connection.id)).hosted_url);
    expect(await page.$eval("bdi", (shown) => shown.textContent)).toBe(name);
    expect(await page.$$eval('script:not([src="/login/page.js"])', (scripts) => scripts.length)).toBe(0);
    await page.browserContext().close();
  });

  test("writes field names into the page as text", async () => {
    const name = `c-${newId()}`;
    const evil = '"><script>alert(1)</script>';
    await kernel.credentials.create({ name, domain: "shop.example", values: { [evil]: "1" } });
    const connection = await connect({ credential: { name } });
    const page = await opened((await kernel.auth.connections.login(connection.id)).hosted_url);
    expect(await page.$$eval('script:not([src="/login/page.js"])', (scripts) => scripts.length)).toBe(0);
    expect(await page.$$eval("label", (labels) => labels[0]?.textContent?.trim())).toBe(evil);
    await page.browserContext().close();
  });
});
