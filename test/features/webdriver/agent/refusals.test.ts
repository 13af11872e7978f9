/** What an agent refuses of WebDriver before it starts a driver. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacksNamespaces } from "../../../../src/features/code/agent/apart.ts";
import { driverCommand } from "../../../../src/features/webdriver/agent/classic/driver-command.ts";
import { createTestAgents } from "../../../support/agent-process.ts";
import { runWithoutNamespaces } from "../../../support/without-namespaces.ts";
import { type DriverAgent, startDriverAgent } from "./driver-agent.ts";

const agents = createTestAgents();
afterAll(() => agents[Symbol.asyncDispose]());

describe("capabilities", () => {
  let held: DriverAgent;
  beforeAll(async () => {
    held = await startDriverAgent(agents, "local mode");
  });

  // WDC-2
  test.each<[what: string, capabilities: Record<string, unknown>, named: string]>([
    ["a program", { "goog:chromeOptions": { binary: "/bin/sh" } }, "goog:chromeOptions.binary"],
    ["arguments", { "goog:chromeOptions": { args: ["--no-sandbox"] } }, "goog:chromeOptions.args"],
    [
      "arguments to leave out",
      { "goog:chromeOptions": { excludeSwitches: ["x"] } },
      "goog:chromeOptions.excludeSwitches",
    ],
    ["extensions", { "goog:chromeOptions": { extensions: ["AAAA"] } }, "goog:chromeOptions.extensions"],
    ["preferences", { "goog:chromeOptions": { prefs: { a: 1 } } }, "goog:chromeOptions.prefs"],
    [
      "another browser",
      { "goog:chromeOptions": { debuggerAddress: "10.0.0.1:1" } },
      "goog:chromeOptions.debuggerAddress",
    ],
    ["a device", { "goog:chromeOptions": { androidPackage: "x" } }, "goog:chromeOptions.androidPackage"],
    ["a folder of dumps", { "goog:chromeOptions": { minidumpPath: "/tmp" } }, "goog:chromeOptions.minidumpPath"],
    [
      "a log of performance",
      { "goog:chromeOptions": { perfLoggingPrefs: { x: 1 } } },
      "goog:chromeOptions.perfLoggingPrefs",
    ],
    ["the older protocol", { "goog:chromeOptions": { w3c: "no" } }, "goog:chromeOptions.w3c"],
    ["options of another kind", { "goog:chromeOptions": "binary" }, "goog:chromeOptions"],
    ["logs", { "goog:loggingPrefs": { browser: "ALL" } }, "goog:loggingPrefs"],
    ["a proxy", { proxy: { proxyType: "direct" } }, "proxy"],
    ["a grid's recording", { "se:recordVideo": true }, "se:recordVideo"],
    ["certificates that are not checked", { acceptInsecureCerts: true }, "acceptInsecureCerts"],
    ["another browser's name", { browserName: "firefox" }, "browserName"],
    ["another platform", { platformName: "windows" }, "platformName"],
    ["a longer load", { timeouts: { pageLoad: 400_000 } }, "timeouts.pageLoad"],
    ["an unknown timeout", { timeouts: { other: 1 } }, "timeouts.other"],
  ])("that ask for %s are refused by name, and nothing is started", async (_what, alwaysMatch, named) => {
    const answer = await held.run("POST", "session", { capabilities: { alwaysMatch } });
    expect(answer).toMatchObject({ status: 500, value: { error: "session not created" } });
    expect(answer.value.message.startsWith(`${named}: `)).toBe(true);
    expect(await held.run("POST", "session", { capabilities: { firstMatch: [alwaysMatch] } })).toEqual(answer);
    expect(held.drivers()).toEqual([]);
  });

  // WDC-2
  test.each([
    ["nothing", {}],
    ["those of an older protocol alone", { desiredCapabilities: { browserName: "chrome" } }],
    ["a list", { capabilities: [] }],
    ["no alternative", { capabilities: { firstMatch: [] } }],
    [
      "one twice",
      { capabilities: { alwaysMatch: { browserName: "chrome" }, firstMatch: [{ browserName: "chrome" }] } },
    ],
  ])("that are %s are an invalid argument", async (_what, body) => {
    expect(await held.run("POST", "session", body)).toMatchObject({
      status: 400,
      value: { error: "invalid argument" },
    });
    expect(held.drivers()).toEqual([]);
  });

  // WDC-2
  test("options that clients send empty are taken, and what becomes of dialogs is kept", async () => {
    const empty = { args: [], extensions: [], prefs: {}, w3c: true };
    const { value, session } = await held.run("POST", "session", {
      capabilities: {
        alwaysMatch: {
          "goog:chromeOptions": empty,
          proxy: null,
          webSocketUrl: true,
          unhandledPromptBehavior: "accept",
        },
      },
    });
    expect(value.capabilities).toMatchObject({ unhandledPromptBehavior: "accept" });
    expect(session).toEqual({ asksBidi: true });
    await held.run("DELETE", `session/${value.sessionId}`);
  });
});

// WDC-10
test.each([
  ["is not told of a chromedriver", {}],
  ["is told of one that is not there", { BROWSERPOOL_CHROMEDRIVER: "/none/chromedriver" }],
])("an agent that %s refuses by name, and serves on", async (_what, env) => {
  const held = await startDriverAgent(agents, "pod", { env, chromedriver: false });
  expect(await held.run("POST", "session", { capabilities: {} })).toEqual({
    status: 400,
    value: { code: "not_supported_here", message: "this browser's machine has no chromedriver" },
  });
  expect(await held.run("GET", "status")).toMatchObject({ status: 200 });
});

// WDC-10
test("where nobody may make namespaces it is refused by name", () => {
  const sockets = { driver: "/tmp/driver", devTools: "/tmp/devtools" };
  const { program, args } = driverCommand("/usr/bin/chromedriver", sockets, { filesDir: "/tmp", ownPorts: undefined });
  const { status, stderr } = runWithoutNamespaces(program, args);
  expect(status).not.toBe(0);
  expect(lacksNamespaces(stderr)).toBe(true);
});
