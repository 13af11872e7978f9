/**
 * The process that speaks WebDriver BiDi with one client (main.ts). Its other end is a socket over which the agent passes the client's
 * bytes.
 *
 * A process, not a thread: it parses what the client and the pages send, and a thread that runs out of memory can take the whole agent
 * with it. It may read its own program and nothing else, write nowhere, and start nothing.
 */
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { socketFd } from "./process-contract.ts";

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
export const startBidiProcess = (): BidiProcess => {
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
