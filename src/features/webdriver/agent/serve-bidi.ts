/**
 * `GET /webdriver`: WebDriver BiDi. Each connection has a process of its own, from the upgrade to the connection's end.
 */
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { refusal, refusals } from "../../../core/agent/agent-reply.ts";
import { type DevToolsPlace, devToolsUrl } from "../../../core/agent/connect-dev-tools.ts";
import { joinServer } from "../../../core/agent/join-server.ts";
import type { ServeUpgrade } from "../../../core/agent/upgrades.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { devToolsHeader, promptsHeader, socketFd } from "./process-contract.ts";

// The process that speaks WebDriver BiDi with one client (main.ts). Its other end is a socket over which the agent
// passes the client's bytes.
//
// A process, not a thread: it parses what the client and the pages send, and a thread that runs out of memory can take
// the whole agent with it. It may read its own program and nothing else, write nowhere, and start nothing.

/** Most memory of its JavaScript objects, MB. */
const maxMegabytes = 256;

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const program = fileURLToPath(new URL("main.ts", import.meta.url));
/** `node_modules` may be a link: Node asks by its name and by what it leads to. */
const pathsOf = (name: string): string[] => [...new Set([join(root, name), realpathSync(join(root, name))])];
const readable = ["src", "node_modules", "package.json"].flatMap(pathsOf).map((path) => `--allow-fs-read=${path}`);

type BidiProcess = {
  /** To its WebSocket server. */
  socket: Socket;
  /** Resolves with how it ended, e.g. `SIGKILL` or `0`; never rejects. */
  ended: Promise<string>;
  /** Kills it. */
  kill(): void;
};

/** Starts the process. When it can't be started, its socket closes. */
const startBidiProcess = (): BidiProcess => {
  const child = spawn(
    process.execPath,
    ["--permission", ...readable, `--max-old-space-size=${maxMegabytes}`, program],
    {
      // Nothing of the agent's environment is its business.
      env: {},
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    },
  );
  const ended = Promise.withResolvers<string>();
  child.once("exit", (code, signal) => ended.resolve(String(signal ?? code)));
  child.once("error", ({ message }) => ended.resolve(message));
  const socket = child.stdio[socketFd];
  if (!(socket instanceof Socket)) throw new Error("the process has no socket");
  socket.on("error", () => socket.destroy());
  return { socket, ended: ended.promise, kill: () => void child.kill("SIGKILL") };
};

/** Connections of one browser at a time: each costs a process of about 90 MB. */
const maxConnections = 8;

/** Time for the process to start and to reach Chromium, ms: 0.4 s on a quiet machine. */
const answerMs = 20_000;

const tooMany = refusal("too_many_requests", `a session has ${maxConnections} connections for WebDriver BiDi at most`);

type BidiDeps = {
  browser: { devTools(): DevToolsPlace };
  /** What becomes of a page's dialogs, if a session over HTTP says it (session-drivers.ts). */
  prompts?(): object | undefined;
  log: Logger;
};

/** Serves WebDriver BiDi over the browser's DevTools. */
export const createBidiServer = ({ browser, prompts = () => undefined, log }: BidiDeps): ServeUpgrade => {
  let running = 0;
  return async (upgrade) => {
    if (running >= maxConnections) return upgrade.refuse(tooMany);
    const url = devToolsUrl(browser.devTools());
    const { socket, ended, kill } = startBidiProcess();
    running += 1;
    void ended.then((how) => {
      running -= 1;
      socket.destroy();
      if (how !== "0" && how !== "SIGKILL") log.warn({ how }, "a process for WebDriver BiDi has failed");
    });
    upgrade.client.once("close", kill);
    const asked = prompts();
    const headers = { [devToolsHeader]: url, ...(asked && { [promptsHeader]: JSON.stringify(asked) }) };
    const place = { path: "/", headers, timeoutMs: answerMs };
    await joinServer(upgrade, socket, place, refusals.browser_unhealthy);
  };
};
