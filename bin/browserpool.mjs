#!/usr/bin/env node
/**
 * `browserpool`, from a clone: installs what the command needs, and runs it. Plain JavaScript, so that Node 20 can run
 * it before the set-up, which brings the Node that the commands need.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const node = join(root, "node_modules", ".bin", "node");

/** Runs a program to its end, and returns its exit code. @param {string} program @param {string[]} args */
const run = async (program, args) => {
  const child = spawn(program, args, { stdio: "inherit" });
  // A terminal sends its signals to the program as well, which decides when to end.
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
    process.on(signal, () => signal !== "SIGINT" && child.kill(signal));
  const [code, signal] = await once(child, "exit");
  return code ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)];
};

const argv = process.argv.slice(2);
const isLocal = argv[0] === "local" && !argv.includes("--help");
const setUp = await run(process.execPath, [join(root, "scripts/setup.mjs"), ...(isLocal ? [] : ["--packages-only"])]);
if (setUp !== 0) process.exit(setUp);
const supervised = isLocal ? [join(root, "scripts/supervise.mjs"), "--no-namespace", node] : [];
process.exit(await run(node, [...supervised, join(root, "src/main.ts"), ...argv]));
