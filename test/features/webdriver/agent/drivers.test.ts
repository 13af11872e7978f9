/** WebDriver over HTTP beside a browser, with the agent, the Chromium and the chromedriver of a pod, and of local mode. */
import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestAgents, runningIn } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { type DriverAgent, places, startDriverAgent } from "./driver-agent.ts";

const agents = createTestAgents();
afterAll(() => agents[Symbol.asyncDispose]());

const elementKey = "element-6066-11e4-a52e-4f735466cecf";

const page = `data:text/html,${encodeURIComponent(
  "<title>shop</title><input><button onclick=\"document.title = document.querySelector('input').value\">Look</button>",
)}`;

/** Folders of sockets that an agent has. */
const socketsOf = ({ agent }: DriverAgent): string[] =>
  readdirSync(agent.dir, { recursive: true })
    .map(String)
    .filter((path) => /(^|\/)webdriver-[^/]+$/.test(path));

describe.each(places)("in a %s", (place) => {
  let held: DriverAgent;
  beforeAll(async () => {
    held = await startDriverAgent(agents, place);
  });
  /** Each test has a lease of its own. */
  let seq = 1;
  beforeEach(async () => {
    if (seq > 1) await held.agent.bind("s-1", seq);
    return async () => {
      await held.agent.release("s-1", seq);
      seq += 1;
    };
  });
  const find = async (session: string, css: string): Promise<string> => {
    const { value } = await held.run("POST", `${session}/element`, { using: "css selector", value: css });
    return `${session}/element/${value[elementKey]}`;
  };
  const script = async (session: string, code: string, kind = "sync", args: unknown[] = []) =>
    held.run("POST", `${session}/execute/${kind}`, { script: code, args });

  // WDC-1, WDC-3, WDC-6
  test("a session is opened, drives the holder's tab, and leaves the browser as it is when it is deleted", async () => {
    expect(await held.run("GET", "status")).toMatchObject({ status: 200, value: { ready: true } });
    expect(held.drivers()).toEqual([]);
    const opened = await held.run("POST", "session", {
      capabilities: { firstMatch: [{ browserName: "firefox" }, { browserName: "chrome", timeouts: { script: 1500 } }] },
      desiredCapabilities: { "goog:chromeOptions": { binary: "/bin/sh" } },
    });
    expect(opened).toEqual({
      status: 200,
      session: { asksBidi: false },
      value: {
        sessionId: expect.stringMatching(/^[0-9a-f]{32}$/),
        capabilities: {
          acceptInsecureCerts: false,
          browserName: "chrome",
          browserVersion: expect.stringMatching(/^\d+\./),
          pageLoadStrategy: "normal",
          platformName: "linux",
          proxy: {},
          setWindowRect: false,
          strictFileInteractability: false,
          timeouts: { implicit: 0, pageLoad: 300_000, script: 1500 },
          unhandledPromptBehavior: "dismiss and notify",
        },
      },
    });
    const session = `session/${opened.value.sessionId}`;
    expect(await held.run("POST", `${session}/url`, { url: page })).toEqual({ status: 200, value: null });
    await held.run("POST", `${await find(session, "input")}/value`, { text: "tea" });
    await held.run("POST", `${await find(session, "button")}/click`, {});
    expect(await held.run("GET", `${session}/title`)).toEqual({ status: 200, value: "tea" });
    expect((await held.run("GET", `${session}/screenshot`)).value).toMatch(/^iVBOR/);
    const browser = await held.agent.connect("s-1");
    const [tab] = await browser.pages();
    expect(await tab?.title()).toBe("tea");
    expect(await held.run("DELETE", session)).toEqual({ status: 200, value: null });
    expect([held.drivers(), socketsOf(held)]).toEqual([[], []]);
    expect(await tab?.title()).toBe("tea");
    await browser.disconnect();
    expect(await held.run("GET", `${session}/title`)).toMatchObject({
      status: 404,
      value: { error: "invalid session id" },
    });
  });

  // WDC-1
  test("a session begins in the newest tab, or in a new one where none is open, and ends with its last one", async () => {
    const browser = await held.agent.connect("s-1");
    for (const title of ["first", "second", "third"])
      await (await browser.newPage()).goto(`data:text/html,<title>${title}</title>`);
    const session = await held.open();
    expect((await held.run("GET", `${session}/title`)).value).toBe("third");
    const { value: handles } = await held.run("GET", `${session}/window/handles`);
    for (const handle of handles) {
      await held.run("POST", `${session}/window`, { handle });
      await held.run("DELETE", `${session}/window`);
    }
    await eventually("its driver is gone", () => held.drivers().length === 0);
    expect(await held.run("GET", `${session}/title`)).toMatchObject({
      status: 404,
      value: { error: "invalid session id" },
    });
    expect(await browser.pages()).toEqual([]);
    const next = await held.open();
    expect((await held.run("GET", `${next}/url`)).value).toBe("about:blank");
    expect(await browser.pages()).toHaveLength(1);
    await browser.disconnect();
  });

  // WDC-4
  test.each([
    ["a file to write", "POST se/file", "unsupported operation"],
    ["a file to write, by its older name", "POST file", "unsupported operation"],
    ["the driver's log", "POST se/log", "unknown command"],
    ["a change of the network", "POST chromium/network_conditions", "unknown command"],
    ["a cast", "POST goog/cast/start_desktop_mirroring", "unknown command"],
    ["a launch of an app", "POST chromium/launch_app", "unknown command"],
    ["an extension", "POST webextension", "unknown command"],
    ["a part of a path too many", "GET title/x", "unknown command"],
    ["a part of a path that is none", "GET element//text", "unknown command"],
    ["another method", "POST title", "unknown method"],
  ])("the driver gets no command beyond the list: %s", async (_what, asked, error) => {
    const session = await held.open();
    const [method = "", path] = asked.split(" ");
    const answer = await held.run(method, `${session}/${path}`, method === "POST" ? {} : undefined);
    const status = { "unsupported operation": 500, "unknown command": 404, "unknown method": 405 }[error];
    expect(answer).toMatchObject({ status, value: { error, message: expect.any(String), stacktrace: "" } });
  });

  // WDC-4
  test("paths that are none of a session are no commands either", async () => {
    expect(await held.run("GET", "sessions")).toMatchObject({ status: 404, value: { error: "unknown command" } });
    expect(await held.run("GET", "session")).toMatchObject({ status: 405, value: { error: "unknown method" } });
    expect(await held.run("POST", "shutdown")).toMatchObject({ status: 404, value: { error: "unknown command" } });
    const unknown = await held.run("GET", `session/${"x".repeat(2000)}/url`);
    expect(unknown).toMatchObject({ status: 404, value: { error: "invalid session id" } });
    expect(unknown.value.message.length).toBeLessThan(200);
  });

  // WDC-5
  test("a flood of new sessions gets four, and no more processes", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => held.run("POST", "session", { capabilities: {} })),
    );
    const opened = answers.filter(({ status }) => status === 200);
    expect(opened).toHaveLength(4);
    for (const refused of answers.filter(({ status }) => status !== 200))
      expect(refused).toMatchObject({
        status: 500,
        value: { error: "session not created", data: { code: "too_many_requests" } },
      });
    expect(await held.run("GET", "status")).toMatchObject({ value: { ready: false } });
    expect(socketsOf(held)).toHaveLength(4);
    await held.run("DELETE", `session/${opened[0]?.value.sessionId}`);
    await held.open();
  });

  // WDC-5
  test("a session has sixteen commands under way, also of callers that have hung up", async () => {
    const session = await held.open({ timeouts: { script: 100 } });
    const waiting = Array.from({ length: 20 }, () => script(session, "", "async"));
    const refused = (await Promise.all(waiting)).filter(({ value }) => /under way/.test(value.message));
    expect(refused).toHaveLength(4);
  });

  // WDC-5
  test("an answer that is too long is an error, and the session goes on", async () => {
    const session = await held.open();
    const long = await script(session, "return 'x'.repeat(13 * 2 ** 20)");
    expect(long).toMatchObject({
      status: 500,
      value: { error: "unknown error", message: expect.stringMatching(/longer than 12582912 bytes/) },
    });
    expect(await script(session, "return 1 + 1")).toEqual({ status: 200, value: 2 });
    expect(await script(session, "null.x")).toMatchObject({
      status: 500,
      value: { error: "javascript error", stacktrace: "" },
    });
  });

  // WDC-5
  test("timeouts have a bound", async () => {
    const session = await held.open();
    for (const timeouts of [{ pageLoad: 300_001 }, { script: null }, { implicit: -1 }, { other: 1 }])
      expect(await held.run("POST", `${session}/timeouts`, timeouts)).toMatchObject({
        status: 400,
        value: { error: "invalid argument", message: expect.stringMatching(/^(pageLoad|script|implicit|other): /) },
      });
    expect(await held.run("POST", `${session}/timeouts`, { script: 100 })).toMatchObject({ status: 200 });
    expect(await script(session, "", "async")).toMatchObject({ status: 500, value: { error: "script timeout" } });
  });

  // WDC-6
  test("drivers end with the lease, also while one starts, and the next holder finds nothing of them", async () => {
    const session = await held.open();
    const waiting = script(session, "", "async").catch(() => "cut");
    const starting = held.run("POST", "session", { capabilities: {} }).catch(() => "cut");
    await sleep(30);
    await held.agent.release("s-1", seq);
    expect([await waiting, await starting]).not.toContainEqual(expect.objectContaining({ status: 200 }));
    await eventually("no driver runs", () => held.drivers().length === 0 && socketsOf(held).length === 0);
    seq += 1;
    await held.agent.bind("s-1", seq);
    expect(await held.run("GET", `${session}/url`)).toMatchObject({
      status: 404,
      value: { error: "invalid session id" },
    });
    expect(await held.run("GET", "status", undefined, "s-2")).toMatchObject({
      status: 404,
      value: { code: "not_found" },
    });
  });

  // WDC-6
  test("a driver that is killed ends its own session alone", async () => {
    const [first, second] = [await held.open(), await held.open()];
    const waiting = script(first, "", "async");
    await sleep(100);
    const [one] = held.chromedrivers();
    process.kill(one ?? 0, "SIGKILL");
    const statusOf = async (session: string) => (await held.run("GET", `${session}/title`)).status;
    await eventually("one is over", async () => (await statusOf(first)) + (await statusOf(second)) === 604);
    await held.run("DELETE", first);
    await waiting;
  });

  // WDC-6
  test("a caller that hangs up while its session is made leaves no driver", async () => {
    await held.open();
    const one = held.drivers().length;
    await held.sendAndLeave({ method: "POST", path: "session", body: { capabilities: {} } });
    await sleep(1500);
    await eventually("its driver is gone", () => held.drivers().length === one);
  });

  // WDC-7
  test("a driver has a network of its own, in which nobody else is, and listens nowhere on this machine", async () => {
    await held.open();
    const netOf = (pid: number | string): string => readlinkSync(`/proc/${pid}/ns/net`);
    const others = ["self", ...held.agent.groups().slice(0, 1)].map(netOf);
    const nets = held.chromedrivers().map(netOf);
    expect(nets).toHaveLength(1);
    expect(others).not.toContain(nets[0]);
    const told = await new Promise((resolve) => {
      const socket = connect(9515, "127.0.0.1", () => resolve("connected"));
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    expect(told).toBe("ECONNREFUSED");
  });

  // WDC-8
  test("a file input takes a file of the session by its path", async () => {
    const files = place === "pod" ? `${held.agent.dir}/tmp` : "/tmp";
    await held.put("fs/write_file?path=/tmp/notes.txt", "words");
    const session = await held.open();
    await held.run("POST", `${session}/url`, { url: "data:text/html,<input type=file>" });
    await held.run("POST", `${await find(session, "input")}/value`, { text: `${files}/notes.txt` });
    const read =
      "const [file] = document.querySelector('input').files; return file.text().then((text) => [file.name, text])";
    expect(await script(session, read)).toEqual({
      status: 200,
      value: ["notes.txt", "words"],
    });
  });

  // WDC-9
  test("an open session that nobody uses keeps no lease in use", async () => {
    await held.open();
    const { body } = await held.agent.call("GET", "/state");
    expect(body.lease?.connections).toBe(0);
  });
});

// WDC-6
test("drivers end with their agent", async () => {
  const held = await startDriverAgent(agents, "local mode");
  await held.open();
  const groups = held.agent.groups();
  expect(held.drivers().length).toBeGreaterThan(0);
  held.agent.child.kill("SIGTERM");
  await held.agent.release("s-1", 1).catch(() => undefined);
  await held.agent.exited;
  expect(runningIn(groups)).toEqual([]);
});
