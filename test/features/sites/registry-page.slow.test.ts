/** The page `/registry` in a real browser, in local mode as users run it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, launch, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { siteConfigKind } from "../../../src/features/sites/configs/site-config.ts";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../../src/local/required-program.ts";
import { eventually } from "../../support/eventually.ts";
import { type Internet, startInternet } from "../../support/internet/internet.ts";
import { type LocalStack, startLocalStack } from "../../support/local-stack.ts";
import { rawRequest } from "../../support/raw-http.ts";
import { internetEnv } from "../../support/visited-agent.ts";

/** Three trials of some seconds each, on a machine that does other work too, ms. */
const analyzedWithinMs = 180_000;

/** Sites with names of their own, more than one page shows. */
const many = 60;

let internet: Internet;
let folder: string;
let stack: LocalStack;
let browser: Browser;
let page: Page;
const complaints: string[] = [];
const asked: string[] = [];

beforeAll(async () => {
  internet = await startInternet();
  folder = await mkdtemp(join(tmpdir(), "browserpool-page-"));
  const file = join(folder, "analyses.yaml");
  await writeFile(file, JSON.stringify({ browsers: 1, rerunMinutes: 0, perHour: 10, perProjectAndHour: 10 }));
  stack = await startLocalStack({ env: { ...internetEnv(internet), BROWSERPOOL_ANALYSES_FILE: file } });
  const executablePath = requiredProgram(locatePrograms(), "chromium-headless-shell");
  browser = await launch({ executablePath, headless: "shell", args: ["--no-sandbox", "--disable-gpu"] });
  page = await browser.newPage();
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => asked.push(request.url()));
});
afterAll(async () => {
  await browser?.close();
  await stack?.[Symbol.asyncDispose]();
  await internet?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const recipe = (headless: boolean) => ({
  browser: { stealth: false, headless, gpu: false, viewport: { width: 1920, height: 1080 } },
});
const evidence = (accessed: number, blocked: number) => ({
  accessed,
  blocked,
  inconclusive: 0,
  runCount: 1,
  lastObservedAt: "2026-01-02T03:04:05Z",
});

const give = (name: string, target: string, guidance?: string): Promise<unknown> =>
  stack.kube.create(siteConfigKind, {
    metadata: { name },
    spec: {
      scope: "host",
      target,
      configurations: [
        { ...recipe(true), evidence: evidence(0, 9) },
        { ...recipe(false), evidence: evidence(8, 1) },
        { browser: { ...recipe(true).browser, stealth: true }, evidence: { ...evidence(0, 0), inconclusive: 2 } },
      ],
      ...(guidance !== undefined && { guidance }),
    },
  });

const textOf = (selector: string): Promise<string[]> =>
  page.$$eval(selector, (elements) =>
    elements.map((element) => (element as unknown as { innerText: string }).innerText.trim()),
  );

const follow = (selector: string): Promise<unknown> => Promise.all([page.waitForNavigation(), page.click(selector)]);

test("it finds a site by a part of its name, and shows which configurations work", async () => {
  for (let n = 0; n < many; n++) await give(`many-${n}`, `www.many-${n}.example`);
  await give("lamps", "www.lamps.example", 'Read **this**. <script>document.title = "taken"</script><img src="/x">');
  await eventually("all are known", async () => {
    await page.goto(`${stack.url}/registry`);
    return (await textOf("main > p")).includes(`${many + 1} sites are known.`);
  });
  expect(await textOf("tbody tr")).toHaveLength(50);
  await follow("a[rel=next]");
  expect(await textOf("tbody tr")).toHaveLength(many + 1 - 50);
  await page.type("input[name=query]", "LAMPS");
  await page.select("select[name=scope]", "host");
  await follow("form button");
  const [row] = await textOf("tbody tr");
  expect(row?.split("\t").map((cell) => cell.trim())).toEqual([
    "www.lamps.example",
    "host",
    "headful, direct",
    "yes",
    "89 %",
    "9",
    "2026-01-02 03:04:05 UTC",
  ]);
  await follow("tbody a");
  expect(await textOf("h1")).toEqual(["www.lamps.example"]);
  expect(await textOf("tbody td:nth-child(2)")).toEqual(["yes", "no", "not known"]);
  expect(await textOf("tbody td:nth-child(3)")).toEqual(["89 %", "0 %", ""]);
  expect(await textOf(".guidance")).toEqual([expect.stringContaining("<script>document.title")]);
  expect(await page.title()).toBe("www.lamps.example");
});

test(
  "it shows an analysis while it runs, and then what each trial saw",
  async () => {
    const url = internet.url("open-shop");
    const call = await stack.call("POST", "/config-registry/resolve", { url });
    expect(call.status).toBe(200);
    await page.goto(`${stack.url}/registry/analyses`);
    expect(await textOf("section h2")).toEqual([url]);
    expect((await textOf("section p"))[0]).toMatch(/^Run 1, (waiting|running)\./);
    await eventually(
      "it has ended",
      async () => {
        await page.reload();
        return (await textOf("section p"))[0]?.startsWith(
          "Run 1, completed: recommendation: a configuration reached the site",
        );
      },
      analyzedWithinMs,
    );
    expect(await textOf("section tbody td:nth-child(2)")).toEqual(["accessed", "accessed", "accessed"]);
    const drawn = await eventually("the screenshots are there", async () => {
      const widths = await page.$$eval("section img", (all) =>
        all.map((one) => {
          const image = one as unknown as { loading: string; naturalWidth: number };
          image.loading = "eager";
          return image.naturalWidth;
        }),
      );
      return widths.every((width) => width > 0) && widths;
    });
    expect(drawn).toEqual([640, 640, 640]);
    await page.goto(`${stack.url}/registry?query=open-shop&scope=exact`);
    await follow("tbody a");
    expect(await textOf("h1")).toEqual([url]);
    // One run, one bar.
    expect(await page.$$eval("svg rect", (bars) => bars.map((bar) => bar.textContent))).toEqual([
      expect.stringMatching(/: 3 of 3$/),
    ]);
    expect(await textOf("section h2")).toEqual([url]);
  },
  analyzedWithinMs,
);

test("it runs no script, asks no other server and has no complaints", () => {
  expect(complaints).toEqual([]);
  expect(asked.filter((url) => !url.startsWith(`${stack.url}/registry`) && url !== "data:,")).toEqual([]);
});

test.each([
  ["a site that nobody knows", "/registry/site?scope=host&target=no.example", 404, /Nothing is known of no\.example/],
  ["a scope that there is not", "/registry/site?scope=all&target=no.example", 400, /scope/],
  ["too long a search", `/registry?query=${"a".repeat(2049)}`, 400, /query/],
  ["a screenshot of no analysis", "/registry/screenshots/none/0", 404, /no such screenshot/],
  ["a screenshot by a bad name", "/registry/screenshots/..%2Fapi-key/0", 400, /id/],
])("%s is answered by a page that says so", async (_name, path, status, text) => {
  const response = await fetch(stack.url + path);
  expect([response.status, response.headers.get("content-type")]).toEqual([status, "text/html; charset=utf-8"]);
  expect(await response.text()).toMatch(text);
});

test("another site can neither read it nor frame it", async () => {
  const response = await fetch(`${stack.url}/registry`);
  await response.text();
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
  expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
  const rebound = await rawRequest(stack.url, { path: "/registry", headers: { host: "rebound.example.com" } });
  expect(rebound.status).toBe(403);
});
