/** Code beside a browser, with the agent and the Chromium of a pod, and of local mode. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgents } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { type CodeAgent, places, startCodeAgent } from "./code-agent.ts";

const agents = createTestAgents();
const start = (place: (typeof places)[number]): Promise<CodeAgent> => startCodeAgent(agents, place);
afterAll(() => agents[Symbol.asyncDispose]());

const page = "data:text/html,<title>one</title>";

describe.each(places)("in a %s", (place) => {
  let held: CodeAgent;
  beforeAll(async () => {
    held = await start(place);
  });

  // CODE-1
  test("TypeScript has the tab in front, and answers with what it returns and writes", async () => {
    const answer = await held.execute(`
      type Found = { title: string };
      await page.goto(${JSON.stringify(page)});
      console.log("out", 1);
      console.error("err");
      process.stdout.write("more\\n");
      const found: Found = { title: await page.title() };
      return { ...found, same: page.context() === context && context.browser() === browser, pages: context.pages().length };
    `);
    expect(answer).toEqual({
      success: true,
      result: { title: "one", same: true, pages: 1 },
      stdout: "out 1\nmore\n",
      stderr: "err\n",
      tab: { target_id: expect.any(String), created: false },
    });
    expect(await held.execute("1")).toEqual({ success: true, tab: answer.tab });
  });

  // CODE-5
  test("the front tab is the newest one that is open", async () => {
    const first = (await held.execute("await context.newPage()")).tab;
    const second = (await held.execute("return 1")).tab;
    expect(second.target_id).not.toBe(first.target_id);
    await held.execute("await page.close()");
    expect((await held.execute("return 1")).tab).toEqual(first);
    await held.execute("for (const one of context.pages()) await one.close()");
    const opened = await held.execute("return page.url()");
    expect(opened).toMatchObject({ success: true, result: "about:blank", tab: { created: true } });
    expect((await held.execute("return 1")).tab).toEqual({ ...opened.tab, created: false });
  });

  // CODE-2
  test.each([
    ["throws", "\n\nnull.foo", /^TypeError: Cannot read properties of null \(reading 'foo'\)\n {4}at code\.ts:3:6$/],
    [
      "throws in a function",
      "const f = () => {\n  throw new RangeError('no')\n}\nf()",
      /^RangeError: no\n {4}at f \(code\.ts:2:9\)\n {4}at code\.ts:4:1$/,
    ],
    ["throws what is no error", "throw 'words'", /^words$/],
    ["is no TypeScript", "const a = 1;\nconst b = ;", /^SyntaxError: Expression expected\n {4}at code\.ts:2$/],
    ["has an enum", "enum A { b }", /^SyntaxError: TypeScript enum is not supported/],
    [
      "is called wrongly",
      "\nawait page.click('#none', { timeout: 50 })",
      /^TimeoutError: page\.click: Timeout 50ms exceeded(.|\n)*\n {4}at code\.ts:2:12$/,
    ],
    ["returns what is no JSON", "return 10n", /^TypeError: what the code returned can't be sent as JSON: /],
    [
      "returns a circle",
      "const a = {}; a.a = a; return a",
      /^TypeError: what the code returned can't be sent as JSON: /,
    ],
    [
      "returns too much",
      "return 'x'.repeat(2 ** 24)",
      /^RangeError: what the code returned is 16777218 characters of JSON/,
    ],
  ])("code that %s is told where", async (_what, code, error) => {
    const answer = await held.execute(code);
    expect(answer).toEqual({ success: false, error: expect.stringMatching(error), tab: expect.anything() });
  });

  // CODE-3
  test("what is written beyond 1 MiB is dropped, and its answer says so", async () => {
    const { success, stdout, stderr } = await held.execute(
      "const line = 'x'.repeat(2 ** 20 - 1); for (let i = 0; i < 1000; i++) console.log(line); console.error('short')",
    );
    expect([success, stderr]).toEqual([true, "short\n"]);
    expect(stdout.length).toBeLessThan(2 ** 20 + 100);
    expect(stdout).toMatch(/\n\[more was written; the first 1048576 characters are kept\]\n$/);
  });

  // CODE-4
  test.each([
    ["blocks", "console.log('before'); for (;;);"],
    ["waits", "console.log('before'); await new Promise(() => undefined)"],
  ])("code that %s for ever is ended, and the next finds a new process", async (_what, code) => {
    await held.execute("globalThis.kept = 1");
    const answer = await held.execute(code, { timeout_sec: 1 });
    expect(answer).toMatchObject({ success: false, error: expect.stringMatching(/within 1 s/), stdout: "before\n" });
    expect((await held.execute("return globalThis.kept ?? 'new'")).result).toBe("new");
  });

  // CODE-8
  test.each([
    ["objects", "const all = []; for (;;) all.push(new Array(1e5).fill({}))"],
    ["buffers", "const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))"],
  ])("code that takes memory without end, as %s, ends alone", async (_what, code) => {
    const answer = await held.execute(code, { timeout_sec: 60 });
    expect(answer).toMatchObject({ success: false, error: expect.stringMatching(/memory|allocation failed/i) });
    expect(await held.execute("return page.url()")).toMatchObject({ success: true });
  });

  // CODE-4
  test("a process that is killed, and one that says what nobody understands, fail their call alone", async () => {
    await held.execute("return 1");
    const killed = held.execute("await new Promise(() => undefined)");
    await eventually("it runs", async () => {
      const { body } = await held.call("GET", "playwright/executors");
      return body.answer.executors[0].busy === true;
    });
    await sleep(300);
    for (const pid of held.executors()) process.kill(pid, "SIGKILL");
    expect(await killed).toMatchObject({ success: false, error: expect.stringMatching(/^the executor /) });
    const fs = "const fs = await import('node:fs');";
    const talk = `${fs} fs.writeSync(3, '{"is":"returned","id":"x"}\\n'); await new Promise(() => undefined)`;
    expect(await held.execute(talk)).toMatchObject({
      success: false,
      error: expect.stringMatching(/nobody understands/),
    });
    const flood = `${fs} const line = JSON.stringify({ is: "text", id: 1, channel: "stdout", text: "x".repeat(2 ** 20) });
      for (;;) fs.writeSync(3, line + "\\n");`;
    const flooded = await held.execute(flood);
    expect(flooded).toMatchObject({ success: false, error: expect.stringMatching(/more than is read/) });
    expect(flooded.stdout.length).toBeLessThan(2 ** 20 + 100);
    expect(await held.execute("return 1")).toMatchObject({ success: true, result: 1 });
  });

  // CODE-4
  test.each([
    ["closes its browser", "await browser.close()"],
    ["exits", "process.exit(0)"],
    ["leaves errors behind", "setTimeout(() => { throw new Error('late') }); Promise.reject(new Error('alone'))"],
  ])("code that %s takes nothing with it but its own process", async (_what, code) => {
    await held.execute(code);
    expect(await held.execute("return await page.evaluate('1 + 1')")).toMatchObject({ success: true, result: 2 });
  });

  // CODE-6
  test("executors with names have a tab and a process each, run at once, and one call at a time", async () => {
    const meet = (mine: string, other: string) => `
      const fs = await import("node:fs/promises");
      await fs.writeFile("${held.files}/${mine}", "");
      for (;;) if (await fs.stat("${held.files}/${other}").then(() => true, () => false)) return page.url();`;
    const [one, two] = await Promise.all([
      held.execute(meet("one", "two"), { executor: "one" }),
      held.execute(meet("two", "one"), { executor: "two" }),
    ]);
    expect([one, two]).toMatchObject([
      { success: true, tab: { created: true } },
      { success: true, tab: { created: true } },
    ]);
    expect(one.tab.target_id).not.toBe(two.tab.target_id);
    const turns = await Promise.all(
      [1, 2, 3].map(() =>
        held.execute(
          "globalThis.n = (globalThis.n ?? 0) + 1; const mine = globalThis.n; await page.title(); return mine === globalThis.n && mine",
          { executor: "one" },
        ),
      ),
    );
    expect(turns.map(({ result }) => result)).toEqual([1, 2, 3]);
    const { body } = await held.call("GET", "playwright/executors");
    expect(body.answer.executors).toEqual([
      expect.objectContaining({ name: "default", busy: false }),
      expect.objectContaining({ name: "one", target_id: one.tab.target_id, url: "about:blank" }),
      expect.objectContaining({ name: "two", target_id: two.tab.target_id }),
    ]);
    await held.execute("await page.close()", { executor: "two" });
    expect((await held.execute("return 1", { executor: "two" })).tab.created).toBe(true);
  });

  // CODE-6
  test("a ninth name is refused; what is deleted ends with its tab, and the default one begins anew", async () => {
    const names = ["one", "two", 3, 4, 5, 6, 7, 8].map(String);
    for (const executor of names) await held.execute("return 1", { executor });
    expect(await held.call("POST", "playwright/execute", { code: "1", executor: "9" })).toMatchObject({
      status: 409,
      body: { code: "conflict", message: expect.stringMatching(/one, two, 3/) },
    });
    const tabs = async (): Promise<number> => (await held.execute("return context.pages().length")).result;
    const before = await tabs();
    const running = held.execute("await new Promise(() => undefined)", { executor: "one" });
    await sleep(300);
    expect((await held.call("DELETE", "playwright/executors/one")).status).toBe(200);
    expect(await running).toMatchObject({ success: false, error: "the executor was deleted" });
    expect(await tabs()).toBe(before - 1);
    expect((await held.call("DELETE", "playwright/executors/two?close_tab=false")).status).toBe(200);
    expect(await tabs()).toBe(before - 1);
    expect((await held.call("DELETE", "playwright/executors/one")).status).toBe(404);
    const usual = held.execute("await new Promise(() => undefined)");
    await sleep(300);
    expect((await held.call("DELETE", "playwright/executors/default")).status).toBe(200);
    expect(await usual).toMatchObject({ success: false, error: "the executor was restarted" });
    for (const name of names.slice(2)) await held.call("DELETE", `playwright/executors/${name}`);
    expect(await held.execute("return 1")).toMatchObject({ result: 1 });
    await eventually("only the default one runs", () => held.executors().length < 4);
  });

  // CODE-7
  test("a REPL keeps what is declared, awaits at its top, and answers in order", async () => {
    const first = await held.repl(
      "const a = await Promise.resolve(1), { b, c: [d] } = { b: 2, c: [3] }; let e;\nfunction f() { return a + b + d }\nclass G { h = 5 }; const crypto = 7;",
    );
    expect(first).toMatchObject({ success: true, content: [], content_truncated: false, repl_terminated: false });
    const code = `repl.write(f(), e, new G().h, crypto); console.log("out"); repl.write("text"); const a = 10; repl.write(f());
      repl.emitImage(await page.screenshot()); const { sep } = await import("node:path"); console.error(sep)`;
    expect(await held.repl(code)).toEqual({
      ...{ repl_id: first.repl_id, success: true, content_truncated: false, repl_terminated: false },
      duration_ms: expect.any(Number),
      content: [
        { type: "text", channel: "write", text: "6 undefined 5 7" },
        { type: "text", channel: "stdout", text: "out\n" },
        { type: "text", channel: "write", text: "text15" },
        { type: "image", mime_type: "image/png", data_b64: expect.stringMatching(/^iVBOR/) },
        { type: "text", channel: "stderr", text: "/\n" },
      ],
    });
    expect(await held.repl("repl.help();\n\nnull.x")).toMatchObject({
      ...{
        success: false,
        error: expect.stringMatching(/^TypeError/),
        stack: expect.stringMatching(/at code\.ts:3:6$/),
      },
      content: [{ channel: "write", text: expect.stringContaining("repl.emitImage") }],
    });
    expect(await held.repl("const = 1")).toMatchObject({
      success: false,
      stack: expect.stringMatching(/at code\.ts:1$/),
    });
    expect(await held.repl("import x from 'y'")).toMatchObject({
      success: false,
      error: expect.stringMatching(/import/),
    });
    const other = await held.repl("repl.write(typeof f)", { reset: true });
    expect(other).toMatchObject({ success: true, content: [{ text: "undefined" }] });
    expect(other.repl_id).not.toBe(first.repl_id);
    const late = await held.repl("for (;;);", { timeout_sec: 1 });
    expect(late).toMatchObject({ repl_id: other.repl_id, success: false, repl_terminated: true });
    expect((await held.repl("", { reset: true })).success).toBe(true);
    expect((await held.call("POST", "repl", { code: "" })).status).toBe(400);
  });

  // CODE-9
  test("Playwright leaves the first context as it is; downloads land where they always do", async () => {
    const code = `await page.setContent('<a id="a" download="b.txt" href="data:application/octet-stream,xx">save</a>');
      await page.click("#a");
      const fs = await import("node:fs/promises");
      let names: string[] = [];
      for (const end = Date.now() + 5000; Date.now() < end && !names.includes("b.txt"); await page.waitForTimeout(50))
        names = await fs.readdir("${held.files}/downloads");
      return { names, text: await fs.readFile("${held.files}/downloads/b.txt", "utf8") };`;
    expect((await held.execute(code)).result).toEqual({ names: ["b.txt"], text: "xx" });
  });

  // CODE-10
  test("executors end with the lease, also during a call, and the next holder finds nothing of them", async () => {
    await held.repl("const secret = 1");
    await held.execute("globalThis.secret = 1", { executor: "mine" });
    const cut = held.execute("for (;;);");
    const outcome = cut.then(
      () => "answered",
      () => "cut",
    );
    await sleep(500);
    const running = held.executors();
    expect(running.length).toBeGreaterThan(3);
    await held.agent.release("s-1", 1, "keep");
    expect(await outcome).toBe("cut");
    await eventually("all have ended", () => held.executors().length === 0);
    expect((await held.call("POST", "playwright/execute", { code: "1" })).status).toBe(404);
    await eventually("the browser is there again", async () => (await held.agent.bind("s-2", 2)).status === 200);
    const next = await held.call("GET", "playwright/executors", undefined, "s-2");
    expect(next.body.answer.executors).toMatchObject([{ name: "default", busy: false }]);
    const code = "return typeof globalThis.secret";
    const { body } = await held.call("POST", "playwright/execute", { code, executor: "mine" }, "s-2");
    expect(body.answer.result).toBe("undefined");
    const log = held.agent.log();
    expect(log).not.toContain("secret");
  });

  // CODE-10, CODE-11
  test("an idle executor keeps no lease in use, and none outlives its agent", async () => {
    const own = await start(place);
    await own.agent.release("s-1", 1, "keep");
    await eventually(
      "it is bound",
      async () => (await own.agent.bind("s-1", 2, { timeout_seconds: 2 })).status === 200,
    );
    expect(await own.execute("await new Promise((resolve) => setTimeout(resolve, 3000)); return 1")).toMatchObject({
      result: 1,
    });
    const groups = own.executors();
    expect(groups.length).toBeGreaterThan(0);
    expect(await own.agent.exited).toBe(0);
    expect(own.agent.termination()).toMatchObject({ reason: "timeout" });
    for (const pid of groups) expect(() => readFileSync(`/proc/${pid}/stat`)).toThrow();
  });
});

// CODE-1
test("new tabs of the full browser, which tells several things of them at once, are there at once", async () => {
  const full = await startCodeAgent(agents, "local mode", { browser: { stealth: true } });
  const code = `let sum = 0;
    for (let round = 0; round < 5; round += 1) {
      const tab = await context.newPage();
      sum += await tab.evaluate("1 + 1");
      await tab.goto("data:text/html,x");
      await tab.close();
    }
    return sum;`;
  expect(await full.execute(code, { timeout_sec: 20 })).toMatchObject({ success: true, result: 10 });
});
